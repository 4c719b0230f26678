import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { orAbort } from '../../../../lib/async/abort.js';
import { now } from '../../../../lib/async/clock.js';
import { deferred } from '../../../../lib/async/deferred.js';
import type { ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { BarrierExit } from '../../../../lib/zookeeper/coordination/barrier-exit.js';
import { enterTogether } from '../../../../lib/zookeeper/coordination/double-barrier.js';
import { Contender } from '../../../../lib/zookeeper/recipes/contender.js';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import type { TransactionReply } from '../../../../lib/zookeeper/session/requests.js';
import { Session } from '../../../../lib/zookeeper/session/session.js';
import { FakeZnodes } from '../recipes/fake-znodes.js';

const TIMEOUT_MS = 100;
const FIRST = '/d/00000000-0000-0000-0000-000000000000';
const SECOND = '/d/00000000-0000-0000-0000-000000000001';
const directory: LockDirectory = { path: '/d', acl: [], parents: 'container', releaseTimeoutMs: 1 };
const reason = new Error('enough');

/** A double barrier, and a session that no answer proves. */
function unproven() {
  const znodes = new FakeZnodes();
  znodes.put('/d');
  const client = Object.assign(znodes, { ping: async () => {} }) as unknown as ZooKeeperClient;
  const session = new Session(client, { sessionId: 1n, timeoutMs: TIMEOUT_MS, sentAt: now() });
  onTestFinished(() => session.ended('closed'));
  return { znodes, session };
}

describe('a member that has given up entering', () => {
  it('leaves as soon as its create turns out to have been applied', async () => {
    const { znodes, session } = unproven();
    const [answer, abort] = [deferred(), new AbortController()];
    const create = znodes.create.bind(znodes);
    znodes.create = async (node) => {
      await answer.promise;
      return create(node);
    };
    const deleted = vi.spyOn(znodes, 'delete');
    const entering = enterTogether(session, directory, { key: 'd', count: 2, signal: abort.signal });
    abort.abort(reason);
    await expect(entering).rejects.toBe(reason);
    expect([session.isCurrent, deleted.mock.calls]).toEqual([false, []]);
    answer.resolve();
    await vi.waitFor(() => expect(deleted).toHaveBeenCalledOnce());
    expect([...znodes.znodes.keys()]).toEqual(['/d']);
  });

  it('does not wait for a proof of its session without end', async () => {
    const { znodes, session } = unproven();
    const abort = new AbortController();
    const create = znodes.create.bind(znodes);
    znodes.create = async (node) => {
      await vi.waitFor(() => expect(session.isCurrent).toBe(false));
      return create(node);
    };
    const ready = { isThere: false, watch: { fired: new Promise<never>(() => {}), remove() {} } };
    znodes.watchExistence = async () => ready as never;
    const proving = vi.spyOn(session, 'proven');
    const entering = enterTogether(session, directory, { key: 'd', count: 1, signal: abort.signal });
    await vi.waitFor(() => expect(proving).toHaveBeenCalled());
    abort.abort(reason);
    await expect(entering).rejects.toBe(reason);
    expect([...znodes.znodes.keys()]).toEqual(['/d', '/d/ready']);
  });
});

describe('a member that has given up leaving', () => {
  /** The second member. What it asks for is not answered, if it changes something. */
  function leaving() {
    const { znodes, session } = unproven();
    [FIRST, SECOND].forEach((path) => znodes.put(path));
    const multi = vi.fn<() => Promise<never>>(() => new Promise(() => {}));
    znodes.multi = multi;
    const exit = new BarrierExit(directory, new Contender(session, { path: SECOND, czxid: 3n }));
    return { znodes, exit, session, untilSent: () => vi.waitFor(() => expect(multi).toHaveBeenCalled()) };
  }

  it('does not wait for the deletion of its own znode as the last', async () => {
    const { znodes, exit, session, untilSent } = leaving();
    const abort = new AbortController();
    znodes.remove(FIRST);
    const left = exit.on(session, abort.signal);
    await untilSent();
    abort.abort(reason);
    await expect(left).rejects.toBe(reason);
  });

  it('does not wait for the deletion of what the first has left behind', async () => {
    const { znodes, exit, session, untilSent } = leaving();
    const abort = new AbortController();
    const left = exit.on(session, abort.signal);
    await vi.waitFor(() => expect(znodes.watched).toContain(`data ${FIRST}`));
    expect(exit.isOut).toBe(true);
    znodes.remove(FIRST);
    await untilSent();
    abort.abort(reason);
    await expect(left).rejects.toBe(reason);
  });

  it('is still told of an answer that comes at that moment', async () => {
    const { znodes, exit, session } = leaving();
    const [abort, answer] = [new AbortController(), deferred<TransactionReply>()];
    znodes.multi = () => {
      abort.abort(reason);
      return answer.promise;
    };
    znodes.remove(FIRST);
    const left = exit.on(session, abort.signal);
    await untilAborted(abort.signal);
    answer.resolve({ results: [], zxid: 1n });
    await expect(left).resolves.toBeUndefined();
  });
});

function untilAborted(signal: AbortSignal): Promise<unknown> {
  return orAbort(new Promise<never>(() => {}), signal).catch(() => {});
}
