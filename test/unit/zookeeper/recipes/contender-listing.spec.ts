import { describe, expect, it } from 'vitest';
import { KeeperError, ErrorCode } from '../../../../lib/zookeeper/session/requests.js';
import type { Stat } from '../../../../lib/zookeeper/session/requests.js';
import { contenderData } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { lineIn } from '../../../../lib/zookeeper/recipes/contender-listing.js';
import { semaphoreIn } from '../../../../lib/zookeeper/recipes/permit-view.js';

const signal = new AbortController().signal;
const numbered = (mark: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `_c_${from + at}-${mark}${String(from + at).padStart(10, '0')}`);

/** A session over znodes that never change. Each znode's number is its creation zxid. */
function sessionOver(directories: Readonly<Record<string, readonly string[]>>, ids: Record<string, string> = {}) {
  const reads: string[] = [];
  const requests = {
    children: (path: string) => {
      const names = directories[path];
      return names ? Promise.resolve(names) : Promise.reject(new KeeperError(ErrorCode.noNode, path));
    },
    read: async (path: string) => {
      reads.push(path);
      const number = BigInt(Number(path.slice(-10)));
      const data = contenderData(`label ${number}`, ids[path.slice(path.lastIndexOf('/') + 1)]);
      return { data, stat: { ctime: 0n, czxid: number, ephemeralOwner: 1n } as Stat };
    },
  };
  const session = { id: 2n, requests, persistently: <T>(ask: () => Promise<T>) => ask() };
  return { session: session as never, reads };
}

describe('a look at the first of a wait queue', () => {
  it('reads no more znodes than requested', async () => {
    const { session, reads } = sessionOver({ '/k': numbered('lock-', 5_000) });
    const line = await lineIn(session, '/k', signal, 20);
    expect(reads).toHaveLength(20);
    expect(line.filter(({ state }) => state === 'held').map(({ owner }) => owner.label)).toEqual(['label 0']);
  });
});

describe('a look at the first permits of a semaphore', () => {
  it('reads these permits, and the first waiting contender', async () => {
    const gate = numbered('lock-', 5_000, 100);
    const { session, reads } = sessionOver({ '/k/locks': gate, '/k/leases': numbered('lease-', 300).toReversed() });
    const found = await semaphoreIn(session, '/k', signal, 20);
    expect(reads).toHaveLength(21);
    const held = found.filter(({ state }) => state === 'held').map(({ owner }) => owner.label);
    expect(held).toEqual(Array.from({ length: 20 }, (_, at) => `label ${at}`));
  });

  it('does not report the permit of a waiting contender as held', async () => {
    const gate = numbered('lock-', 1, 7);
    const permits = numbered('lease-', 3);
    const { session } = sessionOver({ '/k/locks': gate, '/k/leases': permits }, { [permits[2] ?? '']: gate[0] ?? '' });
    const found = await semaphoreIn(session, '/k', signal, 20);
    expect(found.map(({ state, owner }) => `${state} ${owner.label}`)).toEqual([
      'held label 0',
      'held label 1',
      'waiting label 7',
    ]);
  });
});
