import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { contenderData } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { askToGiveWay, holdersOf, removeByForce, untilGivenWay } from '../../../../lib/zookeeper/recipes/revocation.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';
import { FakeZnodes, sessionOn } from './fake-znodes.js';

const OTHER = '_c_00000000-0000-0000-0000-000000000000';
const nameOf = (mark: string, number: number) => `${OTHER}-${mark}${String(number).padStart(10, '0')}`;

function start() {
  const znodes = new FakeZnodes();
  const session = sessionOn(znodes);
  znodes.put('/k');
  const put = (mark: string, number: number, data: string | Buffer = '127.0.0.1') => {
    znodes.put(`/k/${nameOf(mark, number)}`, data);
    return `/k/${nameOf(mark, number)}`;
  };
  return { znodes, session, put, says: (path: string) => znodes.znodes.get(path)?.data.toString() };
}

const askHolders = async (session: Session) => askToGiveWay(session, await holdersOf(session, '/k', NEVER), NEVER);

describe('a revocation request', () => {
  it('is written to the holders in any mode, and to no waiting contender', async () => {
    const { session, put, says } = start();
    const readers = [put('__READ__', 0), put('__READ__', 1, contenderData('ours'))];
    const waits = [put('__WRIT__', 2), put('__READ__', 3), put('lock-', 4)];
    const holders = await askHolders(session);
    expect(holders.map(({ path }) => path)).toEqual(readers);
    expect(says(readers[0] ?? '')).toBe('__REVOKE__');
    expect(JSON.parse(says(readers[1] ?? '') ?? '')).toMatchObject({ label: 'ours', isRevoked: true });
    expect(waits.map(says)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  });

  it('is written once, however often the key is revoked', async () => {
    const { znodes, session, put } = start();
    const path = put('lock-', 0);
    await askHolders(session);
    await askHolders(session);
    expect(znodes.znodes.get(path)?.version).toBe(1);
  });

  it('is merged with data written meanwhile, and skipped for a deleted znode', async () => {
    const { znodes, session, put, says } = start();
    const [stays, goes] = [put('__READ__', 0, contenderData('a')), put('__READ__', 1)];
    const meanwhile = new Map([[stays, () => znodes.put(stays, contenderData('a', 'id', true))]]);
    znodes.before.multi = (path) => {
      if (path === goes) znodes.remove(goes);
      meanwhile.get(path)?.();
      meanwhile.delete(path);
    };
    const holders = await askHolders(session);
    expect(holders.map(({ path }) => path)).toEqual([stays]);
    expect(JSON.parse(says(stays) ?? '')).toMatchObject({ isKept: true, id: 'id', isRevoked: true });
  });

  it('is written nowhere when there is no holder or no directory', async () => {
    const { znodes, session } = start();
    expect(await askHolders(session)).toEqual([]);
    znodes.remove('/k');
    expect(await askHolders(session)).toEqual([]);
  });
});

describe('waiting for the holders', () => {
  it('ends when the last of them has left, and ignores their writes', async () => {
    const { znodes, session, put } = start();
    const paths = [put('__READ__', 0), put('__READ__', 1)];
    const holders = await askHolders(session);
    let isOver = false;
    const waiting = untilGivenWay(session, holders, NEVER).then(() => (isOver = true));
    await new Promise(setImmediate);
    znodes.put(paths[0] ?? '', 'still here');
    znodes.remove(paths[1] ?? '');
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    znodes.remove(paths[0] ?? '');
    await waiting;
    expect(znodes.watched).toEqual([]);
  });

  it('ends where another znode is at the same path, which is left unchanged', async () => {
    const { znodes, session, put, says } = start();
    const path = put('lock-', 0);
    const holders = await askHolders(session);
    znodes.remove(path);
    put('lock-', 0, 'another');
    await untilGivenWay(session, holders, NEVER);
    await removeByForce(session, holders, NEVER);
    expect([says(path), znodes.watched]).toEqual(['another', []]);
  });

  it('ends with its signal, and leaves no watch', async () => {
    const { znodes, session, put } = start();
    put('lock-', 0);
    const holders = await askHolders(session);
    const abort = new AbortController();
    const waiting = untilGivenWay(session, holders, abort.signal);
    await new Promise(setImmediate);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(znodes.watched).toEqual([]);
  });
});

describe('removal by force', () => {
  it('deletes the znodes of remaining holders, whatever they write meanwhile', async () => {
    const { znodes, session, put } = start();
    const path = put('lock-', 0);
    const holders = await askHolders(session);
    let writes = 3;
    znodes.before.multi = () => {
      if (writes-- > 0) znodes.put(path, 'busy');
    };
    await removeByForce(session, holders, NEVER);
    expect(znodes.znodes.has(path)).toBe(false);
    await expect(removeByForce(session, holders, NEVER)).resolves.toBeUndefined();
  });
});
