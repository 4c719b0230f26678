import type { Contender } from '../recipes/contender.js';
import { refusedAt } from '../recipes/refusal.js';
import { ErrorCode, KeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { HAS_NOT_GIVEN_UP } from './gathering.js';

const GIVEN_UP = Buffer.from('given up');

/**
 * Has a member give up, for certain, through disconnections. Resolves to whether it was counted in before that: then it
 * is in all the same, because the others rely on it. Rejects when the session is over.
 */
export async function isCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
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
