import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { ErrorCode, KeeperError } from '../../../lib/zookeeper/session/requests.js';
import type { SessionSupervisor } from '../../../lib/zookeeper/session/session-supervisor.js';
import { revoke } from '../../../lib/zookeeper/zookeeper-revocation.js';
import { FakeZnodes, sessionOn } from './recipes/fake-znodes.js';

const nameOf = (id: number, mark: string, number: number) =>
  `/k/_c_${id}0000000-0000-0000-0000-000000000000-${mark}${String(number).padStart(10, '0')}`;
const WRITER = nameOf(1, '__WRIT__', 3);
const READS_ON = nameOf(2, '__READ__', 3);
const NEXT = nameOf(3, '__WRIT__', 4);

function start() {
  const znodes = new FakeZnodes();
  znodes.put('/k');
  let session = sessionOn(znodes);
  const sessions = {
    session: async () => session,
    inTime: <T>(work: (signal: AbortSignal) => Promise<T>, given = NEVER) => work(given),
  } as unknown as SessionSupervisor;
  let isOver = false;
  return {
    znodes,
    revoke: async (graceMs: number) => {
      await revoke(sessions, { key: 'k', path: '/k' }, { graceMs, signal: undefined });
      isOver = true;
    },
    /** Ends the session; another one follows it. */
    endSession: () => {
      const ended = session;
      session = sessionOn(znodes);
      ended.ended('expired');
    },
    isOver: () => isOver,
    says: (path: string) => znodes.znodes.get(path)?.data.toString(),
  };
}

/** Performs the transaction of a writer that becomes a reader. */
function downgrade(znodes: FakeZnodes): void {
  znodes.put(READS_ON, '127.0.0.1');
  znodes.remove(WRITER);
}

const turn = () => new Promise(setImmediate);

describe('a revoked writer', () => {
  it('that continues as a reader is asked once more, and waited for', async () => {
    const { znodes, revoke, says, isOver } = start();
    [WRITER, NEXT].forEach((path) => znodes.put(path, '127.0.0.1'));
    const revoking = revoke(Infinity);
    await turn();
    downgrade(znodes);
    await turn();
    expect([isOver(), says(READS_ON), says(NEXT)]).toEqual([false, '__REVOKE__', '127.0.0.1']);
    znodes.remove(READS_ON);
    await revoking;
    expect([says(NEXT), znodes.watched]).toEqual(['127.0.0.1', []]);
  });

  it('is found as a reader when it becomes one before it is asked', async () => {
    const { znodes, revoke, says, isOver } = start();
    znodes.put(WRITER, '127.0.0.1');
    znodes.before.read = (path) => path === WRITER && znodes.znodes.has(WRITER) && downgrade(znodes);
    const revoking = revoke(Infinity);
    await turn();
    expect([isOver(), says(READS_ON)]).toEqual([false, '__REVOKE__']);
    znodes.remove(READS_ON);
    await revoking;
  });

  it('is removed by force as a reader, too, after one grace period for both', async () => {
    const { znodes, revoke, says } = start();
    [WRITER, NEXT].forEach((path) => znodes.put(path, '127.0.0.1'));
    const revoking = revoke(20);
    await turn();
    downgrade(znodes);
    await revoking;
    expect([says(READS_ON), says(NEXT)]).toEqual([undefined, '127.0.0.1']);
  });

  it('may be a writer and a reader with the same number, as Curator’s is', async () => {
    const { znodes, revoke, says, isOver } = start();
    [WRITER, READS_ON, NEXT].forEach((path) => znodes.put(path, '127.0.0.1'));
    const revoking = revoke(Infinity);
    await turn();
    expect([isOver(), says(WRITER), says(READS_ON)]).toEqual([false, '__REVOKE__', '__REVOKE__']);
    [WRITER, READS_ON].forEach((path) => znodes.remove(path));
    await revoking;
    expect(says(NEXT)).toBe('127.0.0.1');
  });
});

describe('a revocation', () => {
  it('continues with the next session, and does not ask a later holder', async () => {
    const { znodes, revoke, says, isOver, endSession } = start();
    [WRITER, NEXT].forEach((path) => znodes.put(path, '127.0.0.1'));
    const revoking = revoke(Infinity);
    await turn();
    endSession();
    znodes.remove(WRITER);
    await turn();
    expect([isOver(), says(NEXT)]).toEqual([true, '127.0.0.1']);
    await revoking;
  });

  it('leaves no watch when one of the holders cannot be waited for', async () => {
    const { znodes, revoke } = start();
    const readers = [1, 2].map((id) => nameOf(id, '__READ__', id));
    readers.forEach((path) => znodes.put(path, '127.0.0.1'));
    znodes.before.watchData = (path) => {
      if (path === readers[1]) throw new KeeperError(ErrorCode.noAuth, path);
    };
    await expect(revoke(Infinity)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    await turn();
    expect(znodes.watched).toEqual([]);
  });
});
