import { describe, expect, it } from 'vitest';
import { isCountedIn } from '../../../../lib/zookeeper/coordination/giving-up.js';
import type { Contender } from '../../../../lib/zookeeper/recipes/contender.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const MEMBER = { path: '/d/m' } as Contender;
const MARKED_AT = 50n;

/** A session that answers the mark with `error`, and shows `ready` as made at `readyAt`. */
function session(readyAt: bigint | undefined, error: number = ErrorCode.ok): Session {
  const read = async (path: string) => {
    if (path === MEMBER.path) return { stat: { mzxid: MARKED_AT } };
    if (readyAt === undefined) throw new KeeperError(ErrorCode.noNode, path);
    return { stat: { czxid: readyAt } };
  };
  const requests = { multi: async () => ({ results: [{ error }], zxid: MARKED_AT }), sync: async () => {}, read };
  return { surely: <T>(ask: () => Promise<T>) => ask(), requests } as unknown as Session;
}

describe('a member that gives up', () => {
  it.each([
    ['was counted before', 49n, true],
    ['could not be counted any more', 51n, false],
    ['was not let in with anybody', undefined, false],
  ])('%s, which the order of the servers tells', async (_what, readyAt, isCounted) => {
    expect(await isCountedIn(session(readyAt), MEMBER, '/d/ready')).toBe(isCounted);
    expect(await isCountedIn(session(readyAt, ErrorCode.badVersion), MEMBER, '/d/ready')).toBe(isCounted);
  });

  it('is told so when its znode is gone', async () => {
    await expect(isCountedIn(session(49n, ErrorCode.noNode), MEMBER, '/d/ready')).rejects.toThrow(KeeperError);
  });
});
