/**
 * A limit for requests that are repeated until they are carried out. Without a server, such a request has no end. The
 * session's own clock says when its caller can be answered without the servers.
 */
import { OwnAbortController } from '../../async/abort.js';
import { afterReading, pause } from '../../async/timer.js';
import type { Session } from '../session/session.js';

/** The number of checks per session timeout whether the session may have expired. */
const LOOKS = 20;

/**
 * Settles as the promise does, or as `doubtful` once the session may have expired. An answer that has arrived by then
 * takes precedence.
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
  while (session.isCurrent) await pause(session.timeoutMs / LOOKS, signal);
  await new Promise<void>((resolve) => afterReading(resolve));
}
