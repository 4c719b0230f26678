import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { recordData, lookAtOnce } from '../../../../lib/zookeeper/records/record-node.js';
import type { Requests } from '../../../../lib/zookeeper/session/requests.js';
import { ZnodeTree } from './znode-tree.js';

const PATHS = ['/a', '/b', '/c'];
const TOTAL = 30;

/** A server that answers reads in order. Another session writes between any two of them. */
function server(moves: readonly boolean[]) {
  const tree = new ZnodeTree();
  const asked: string[] = [];
  const script = [...moves];
  const levels = new Map(PATHS.map((path) => [path, TOTAL / PATHS.length]));
  for (const path of PATHS) tree.multi([{ type: 'create', path, data: data(path), acl: [], flags: 0 }]);

  function data(path: string): Buffer {
    return recordData(String(levels.get(path)), `write-${asked.length}`);
  }
  const move = () => {
    const [from = '', to = ''] = asked.length % 2 === 0 ? ['/a', '/c'] : ['/c', '/b'];
    levels.set(from, (levels.get(from) ?? 0) - 1);
    levels.set(to, (levels.get(to) ?? 0) + 1);
    tree.multi([from, to].map((path) => ({ type: 'setData', path, data: data(path) })));
  };
  const requests: Pick<Requests, 'sync' | 'read'> = {
    sync: async () => void asked.push('sync'),
    read: async (path) => {
      asked.push(path);
      if (script.shift()) move();
      return tree.read(path);
    },
  };
  const session = { requests: requests as Requests, persistently: <T>(request: () => Promise<T>) => request() };
  return { session, asked };
}

describe('a snapshot of several records', () => {
  it('never mixes records from before and after a write', async () => {
    const property = fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (moves) => {
      const { session } = server(moves);
      const sights = await lookAtOnce(session, PATHS, NEVER);
      expect(sights.reduce((sum, { record }) => sum + Number(record?.value), 0)).toBe(TOTAL);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it('reads all records in one batch behind a sync before it reads any for the second time', async () => {
    const { session, asked } = server([]);
    await lookAtOnce(session, PATHS, NEVER);
    expect(asked).toEqual(['sync', ...PATHS, ...PATHS]);
  });
});
