import { OwnAbortController } from '../../async/abort.js';
import { pause } from '../../async/timer.js';
import type { Contender } from '../recipes/contender.js';
import { refusedAt } from '../recipes/refusal.js';
import { ErrorCode, KeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { HAS_NOT_GIVEN_UP } from './gathering.js';

const GIVEN_UP = Buffer.from('given up');

/** How often it is looked whether the session still stands, within its time-out. */
const LOOKS = 20;

/**
 * Has a member give up, for certain, through disconnections. Resolves to whether it was counted in before that: then it
 * is in all the same, because the others rely on it. Not so when the servers do not answer for so long that the others may
 * have been told that it left. Rejects when the session is over.
 */
export async function isCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  const known = new OwnAbortController();
  try {
    return await Promise.race([wasCountedIn(session, member, readyPath), untilDoubtful(session, known.signal)]);
  } finally {
    known.abort();
  }
}

async function untilDoubtful(session: Session, signal: AbortSignal): Promise<false> {
  while (session.isCurrent) await pause(session.timeoutMs / LOOKS, signal);
  return false;
}

async function wasCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  const { path } = member;
  const mark = { type: 'setData', path, data: GIVEN_UP, version: HAS_NOT_GIVEN_UP } as const;
  await session.surely(async () => {
    const { results } = await session.requests.multi([mark]);
    const error = results[refusedAt(results)]?.error ?? ErrorCode.ok;
    // Of another version: by an attempt before, of which the reply was lost.
    if (error !== ErrorCode.ok && error !== ErrorCode.badVersion) throw new KeeperError(error, path);
  });
  const [, own, ready] = await session.surely(() =>
    Promise.all([
      session.requests.sync(path),
      session.requests.read(path),
      unlessMissing(session.requests.read(readyPath), undefined),
    ]),
  );
  if (!ready) return false;
  // One that was there before this member is of others, until somebody takes it over.
  const { czxid, mzxid } = ready.stat;
  return [czxid, mzxid].some((madeAt) => member.czxid < madeAt && madeAt < own.stat.mzxid);
}
