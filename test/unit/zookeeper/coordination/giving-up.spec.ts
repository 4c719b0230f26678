import { describe, expect, it } from 'vitest';
import { isCountedIn } from '../../../../lib/zookeeper/coordination/barrier-entry.js';
import type { Contender } from '../../../../lib/zookeeper/recipes/contender.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const MEMBER = { path: '/d/m', czxid: 40n } as Contender;
const MARKED_AT = 50n;

/**
 * A session that answers the mark with `error`. It shows `ready` as created at `readyAt` and taken over at
 * `takenOverAt`.
 */
function session(readyAt: bigint | undefined, error: number = ErrorCode.ok, takenOverAt = readyAt): Session {
  const read = async (path: string) => {
    if (path === MEMBER.path) return { stat: { mzxid: MARKED_AT } };
    if (readyAt === undefined) throw new KeeperError(ErrorCode.noNode, path);
    return { stat: { czxid: readyAt, mzxid: takenOverAt } };
  };
  const requests = { multi: async () => ({ results: [{ error }], zxid: MARKED_AT }), sync: async () => {}, read };
  return {
    surely: <T>(ask: () => Promise<T>) => ask(),
    requests,
    isCurrent: true,
    timeoutMs: 1_000,
  } as unknown as Session;
}

describe('a member that gives up', () => {
  it.each([
    ['was counted before', 49n, true],
    ['could not be counted any more', 51n, false],
    ['was not let in with anybody', undefined, false],
    ['came when others had died inside', 39n, false],
    ['was counted by the process that took over what they had left', 39n, true, 49n],
    ['was counted before it was taken over by mistake', 49n, true, 51n],
  ])('%s, as the zxids show', async (_what, readyAt, isCounted, takenOverAt = readyAt) => {
    for (const error of [ErrorCode.ok, ErrorCode.badVersion]) {
      expect(await isCountedIn(session(readyAt, error, takenOverAt), MEMBER, '/d/ready')).toBe(isCounted);
    }
  });

  it('rejects when its znode is gone', async () => {
    await expect(isCountedIn(session(49n, ErrorCode.noNode), MEMBER, '/d/ready')).rejects.toThrow(KeeperError);
  });

  it('is not counted when the servers do not answer before its session may be over', async () => {
    let looks = 0;
    const silent = {
      surely: () => new Promise(() => {}),
      get isCurrent() {
        return looks++ < 3;
      },
      timeoutMs: 100,
    } as unknown as Session;
    expect(await isCountedIn(silent, MEMBER, '/d/ready')).toBe(false);
  });
});
