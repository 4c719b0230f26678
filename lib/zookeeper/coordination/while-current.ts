/**
 * A limit for requests that are repeated until they are carried out. Without a server, such a request has no end. The
 * session's own clock says when its caller can be answered without the servers.
 */
import { OwnAbortController } from '../../async/abort.js';
import { afterReading, pause } from '../../async/timer.js';
import type { Session } from '../session/session.js';

/** The number of checks per session timeout whether the session may have expired. */
const LOOKS = 20;
/** The number of checks after that while a server is connected: its answer, or the end of the session, is on its way. */
const LATE_LOOKS = 5;

/**
 * Settles as the promise does, or as `doubtful` once the session may have expired. An answer that has arrived by then
 * takes precedence. After a stall of this process, a connected server has a quarter of the session timeout to answer.
 */
export async function whileCurrent<T>(session: Session, answer: Promise<T>, doubtful: () => T): Promise<T> {
  const known = new OwnAbortController();
  try {
    return await Promise.race([answer, untilDoubtful(session, known.signal).then(doubtful)]);
  } finally {
    known.abort();
  }
}

async function untilDoubtful(session: Session, signal: AbortSignal): Promise<void> {
  for (let late = 0; session.isCurrent || (session.isConnected && late < LATE_LOOKS);) {
    if (!session.isCurrent) late++;
    await pause(session.timeoutMs / LOOKS, signal);
  }
  await new Promise<void>((resolve) => afterReading(resolve));
}
