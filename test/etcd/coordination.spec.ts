import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { TakenItem } from '../../lib/contract/coordination-backend.js';
import { GrantedLease } from '../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { LockUnavailableError } from '../../lib/contract/errors.js';
import { clientOpener } from '../../lib/etcd/client/etcd-client.js';
import { RefusedError } from '../../lib/etcd/client/etcd-error.js';
import { EtcdLink } from '../../lib/etcd/client/etcd-link.js';
import { EtcdSession } from '../../lib/etcd/session/etcd-session.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { clientsOf } from './support/clients.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

const { signal } = new AbortController();
const { txn } = EtcdLink.prototype;
const { change, read } = EtcdSession.prototype;

/** Returns the keys of a kind that are put from now on, each of them once. */
function keysPut(kind: string): Set<string> {
  const keys = new Set<string>();
  const spy = vi.spyOn(EtcdLink.prototype, 'txn').mockImplementation(function (this: EtcdLink, asked) {
    const ops = asked.success.flatMap((op) => (op.kind === 'txn' ? op.success : op));
    for (const op of ops) if (op.kind === 'put' && op.key.includes(`/${kind}/`)) keys.add(op.key);
    return txn.call(this, asked);
  });
  onTestFinished(() => spy.mockRestore());
  return keys;
}

const textsOf = (items: readonly TakenItem[]) => items.map(({ payload }) => payload.toString());

/** Clients whose sessions outlast the stalls of a busy machine. */
const lastingClients = () => clientsOf({ sessionTimeoutMs: 30_000 });

/** The calls of one client for one queue. */
function queueOf({ coordination }: LockBackend) {
  const { queues } = coordination!;
  const limits = { key: 'q', wait: false, signal };
  return {
    put: (...texts: readonly string[]) => queues.put({ ...limits, payloads: texts.map((text) => Buffer.from(text)) }),
    take: (atMost = 1) => queues.take({ ...limits, atMost }),
    size: () => queues.size('q', signal),
  };
}

/** Two clients of one queue, of which one may lose answers. */
async function lossy() {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open } = lastingClients();
  const [client, another] = [open(proxy.connectString), open(server.host)];
  await Promise.all([client.connect(), another.connect()]);
  /** Makes a call, and loses the answer to its first change. */
  const losing = <T>(call: () => Promise<T>): Promise<T> => {
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockImplementationOnce(function (this: EtcdSession, ...args) {
      proxy.blackHole('toClient');
      return change.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    return call();
  };
  const heal = () => {
    proxy.disconnect();
    proxy.heal();
  };
  const { queues } = client.coordination!;
  return { queues, mine: queueOf(client), others: queueOf(another), losing, heal, proxy };
}

/** Returns the keys of a kind that are on the server. */
async function keysOf(kind: string): Promise<readonly string[]> {
  const link = new EtcdLink(clientOpener(undefined)(server.host), { user: undefined, onClosed: () => {} });
  const { found } = await link.range({ kind: 'read', key: '\0', end: '\0', only: 'keys' });
  link.close('read');
  return found.map(({ key }) => key).filter((key) => key.includes(`/${kind}/`));
}

/** Returns the number of takers on the server. */
async function takers(): Promise<number> {
  return (await keysOf('taker')).length;
}

/** Lets the server refuse the next request of a kind. */
function refuseNext(what: 'change' | 'read') {
  const refusal = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: too many requests');
  const spy = vi.spyOn(EtcdSession.prototype, what).mockRejectedValueOnce(refusal);
  onTestFinished(() => spy.mockRestore());
  return spy;
}

describe('the items of a queue', () => {
  it('are put until the signal aborts, and not until the turn is given back', { timeout: 10_000 }, async () => {
    const client = lastingClients().open(server.host);
    const [limit, reason] = [new AbortController(), new Error('the time is over')];
    await client.connect();
    const releasing = vi.spyOn(GrantedLease.prototype, 'release').mockImplementation(() => new Promise(() => {}));
    onTestFinished(() => releasing.mockRestore());
    const reading = vi.spyOn(EtcdSession.prototype, 'read').mockImplementation(function (this: EtcdSession, ...args) {
      limit.abort(reason);
      return read.apply(this, args);
    });
    onTestFinished(() => reading.mockRestore());
    const request = { key: 'q', payloads: [Buffer.from('item')], maxItems: 0, wait: true, signal: limit.signal };
    await expect(client.coordination!.queues.put(request)).rejects.toBe(reason);
    expect(releasing).toHaveBeenCalledOnce();
  });

  it('are returned by the take whose answer was lost', async () => {
    const { mine, others, losing, heal } = await lossy();
    await others.put('a', 'b');
    const before = await takers();
    const taking = losing(() => mine.take());
    await expect.poll(takers, { interval: 5 }).toBe(before + 1);
    heal();
    const [item, ...more] = await taking;
    expect([item?.payload.toString(), more]).toEqual(['a', []]);
    await item?.ack();
    expect(textsOf(await others.take(10))).toEqual(['b']);
  });

  it('are not put a second time when the answer was lost and they were taken meanwhile', async () => {
    const { mine, others, losing, heal } = await lossy();
    const putting = losing(() => mine.put('a'));
    putting.catch(() => {});
    await expect.poll(() => others.size(), { interval: 5 }).toBe(1);
    await (await others.take())[0]?.ack();
    heal();
    await expect(putting).rejects.toBeInstanceOf(LockUnavailableError);
    expect(await others.size()).toBe(0);
  });

  it('are free again after a take that was given up, also when the server refuses to put them back', async () => {
    const { queues, others, losing, proxy } = await lossy();
    await others.put('a');
    const before = await takers();
    const giveUp = new AbortController();
    const taking = losing(() => queues.take({ key: 'q', wait: false, atMost: 1, signal: giveUp.signal }));
    await expect.poll(takers, { interval: 5 }).toBe(before + 1);
    giveUp.abort(new Error('given up'));
    await expect(taking).rejects.toThrow('given up');
    const refused = refuseNext('read');
    proxy.heal();
    await expect.poll(() => refused.mock.calls.length).toBeGreaterThan(0);
    await expect.poll(async () => textsOf(await others.take())).toEqual(['a']);
  });

  it('are free again after their lease is released, also when the server refuses to put them back', async () => {
    const { mine, others } = await lossy();
    await others.put('a');
    const [item] = await mine.take();
    refuseNext('change');
    await item?.lease.release();
    await expect.poll(async () => textsOf(await others.take())).toEqual(['a']);
  });

  it('have few names, an id each, and their order', async () => {
    const { open } = lastingClients();
    const [putter, taker] = [queueOf(open(server.host)), queueOf(open(server.host))];
    const keys = keysPut('items');
    const ids = new Set<string>();
    for (let number = 0; number < 30; number++) {
      await putter.put(`a${number}`, `b${number}`);
      const items = await taker.take(2);
      expect(textsOf(items)).toEqual([`a${number}`, `b${number}`]);
      for (const item of items) {
        ids.add(item.id);
        await item.ack();
      }
    }
    expect(ids.size).toBe(60);
    // An item and its taker have a key each.
    expect(keys.size).toBe(4);
  });

  it('keep their places when later ones take the names of those that are gone', async () => {
    const queue = queueOf(lastingClients().open(server.host));
    const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, place) => `${from + place}`);
    await queue.put(...numbers(0, 100));
    for (const item of await queue.take(30)) await item.ack();
    const kept = await queue.take(3);
    await queue.put(...numbers(100, 150));
    await Promise.all(kept.map((item) => item.lease.release()));
    const left: string[] = [];
    for (let items; (items = await queue.take(50)).length > 0;) {
      left.push(...textsOf(items));
      await Promise.all(items.map((item) => item.ack()));
    }
    expect(left).toEqual(numbers(30, 150));
  });

  it('have the order in which they were put, also those of a put that is larger than what a take reads', async () => {
    const queue = queueOf(lastingClients().open(server.host));
    const [order, taken]: [string[], string[]] = [[], []];
    for (const size of [3, 70, 127, 20, 90]) {
      const texts = Array.from({ length: size }, (_, place) => `${order.length + place}`);
      order.push(...texts);
      await queue.put(...texts);
    }
    for (let items; (items = await queue.take(3)).length > 0;) {
      taken.push(...textsOf(items));
      await Promise.all(items.map((item) => item.ack()));
    }
    expect(taken).toEqual(order);
  });

  it('are acknowledged once although the answer is lost, and the name is that of a later item by then', async () => {
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const { open } = lastingClients();
    const [taker, putter] = [queueOf(open(proxy.connectString)), queueOf(open(server.host))];
    await putter.put('first');
    const [item] = await taker.take();
    proxy.blackHole('toClient');
    const acknowledged = item?.ack();
    await expect.poll(() => putter.size(), { interval: 5 }).toBe(0);
    const keys = keysPut('items');
    await putter.put('second');
    expect([...keys]).toEqual([expect.stringMatching(/-1$/)]);
    proxy.disconnect();
    proxy.heal();
    await acknowledged;
    expect(textsOf(await taker.take())).toEqual(['second']);
  });

  it('stay with their taker when another call that wanted them was given up', async () => {
    const { open } = lastingClients();
    const clients = [open(server.host), open(server.host)] as const;
    const [one, other] = [queueOf(clients[0]), queueOf(clients[1])];
    await one.put('item');
    const giveUp = new AbortController();
    const sent = deferred<unknown>();
    const taken = deferred<TakenItem | undefined>();
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockImplementationOnce(async function (
      this: EtcdSession,
      ...args
    ) {
      taken.resolve((await other.take())[0]);
      const answer = change.apply(this, args);
      giveUp.abort(new Error('given up'));
      sent.resolve(args[1]?.sent);
      return answer;
    });
    onTestFinished(() => spy.mockRestore());
    const taking = clients[0].coordination!.queues.take({ key: 'q', wait: false, atMost: 1, signal: giveUp.signal });
    await expect(taking).rejects.toThrow('given up');
    await sent.promise;
    // Requests of a client are applied in their order: what it has put back is back by then.
    await new Promise(setImmediate);
    await one.put('later');
    expect(textsOf(await other.take(2))).toEqual(['later']);
    await (await taken.promise)?.ack();
    expect(await other.size()).toBe(1);
  });
});

describe('the members of a double barrier', () => {
  it('have few names', async () => {
    const { open } = lastingClients();
    const clients = [open(server.host), open(server.host)];
    const keys = keysPut('members');
    for (let round = 0; round < 10; round++) {
      const entering = clients.map(({ coordination }) => coordination!.barriers.enter({ key: 'b', count: 2, signal }));
      const members = await Promise.all(entering);
      await Promise.all(members.map((member) => member.leave(signal)));
    }
    expect(keys.size).toBe(2);
  });

  it('are gone after they have given up, also when the server refuses that at first', async () => {
    const { open } = lastingClients();
    const [one, other] = [open(server.host), open(server.host)];
    const enter = ({ coordination }: LockBackend, giveUp: AbortController) =>
      coordination!.barriers.enter({ key: 'b', count: 2, signal: giveUp.signal });
    const before = (await keysOf('members')).length;
    const membersCome = async (count: number) => {
      await expect.poll(async () => (await keysOf('members')).length, { interval: 5 }).toBe(before + count);
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const refused = expect(enter(one, first)).rejects.toThrow('given up');
    await membersCome(1);
    refuseNext('change');
    first.abort(new Error('given up'));
    await refused;
    await membersCome(0);
    // A member that has entered does so even when it gives up.
    const alone = expect(enter(other, second)).rejects.toThrow('given up as well');
    await membersCome(1);
    second.abort(new Error('given up as well'));
    await alone;
  });

  it('that the server refuses are not there, and nothing is left to remove', async () => {
    const client = lastingClients().open(server.host);
    await client.connect();
    const refusal = new RefusedError('PERMISSION_DENIED', 'etcdserver: permission denied');
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockRejectedValue(refusal);
    onTestFinished(() => spy.mockRestore());
    const entering = client.coordination!.barriers.enter({ key: 'b', count: 2, signal });
    await expect(entering).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    // A removal would be sent at once.
    await new Promise(setImmediate);
    expect(spy).toHaveBeenCalledOnce();
  });

  it('leave when the others have left, also if one of them has entered again by then', async () => {
    const { open } = lastingClients();
    const [one, other] = [open(server.host), open(server.host)];
    const enter = ({ coordination }: LockBackend, count: number) =>
      coordination!.barriers.enter({ key: 'b', count, signal });
    const [first, second] = await Promise.all([enter(one, 2), enter(other, 2)]);
    const id = one.vitals?.().sessionId;
    const isAgain = deferred();
    let reads = 0;
    const spy = vi.spyOn(EtcdSession.prototype, 'read').mockImplementation(async function (this: EtcdSession, ...args) {
      // The first one tells the member whom to wait for.
      if (this.id === id && ++reads > 1) await isAgain.promise;
      return read.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const leaving = first.leave(signal);
    await expect.poll(() => reads).toBeGreaterThan(1);
    const outside = second.leave(signal);
    await outside;
    await enter(other, 1);
    isAgain.resolve();
    await leaving;
  });
});
