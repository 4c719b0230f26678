import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { Renewal } from '../../lib/redis/session/renewal.js';
import { RedisSession } from '../../lib/redis/session/redis-session.js';
import type { RecordChange } from '../../lib/contract/record-store.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { lost } from '../support/lost.js';
import { blockEventLoop, socketsAreRead, stallAfter } from '../support/block-event-loop.js';
import { clientsOf, hold, SESSION_MS } from './support/clients.js';
import { isFreedWhenLost } from './support/lost-lease.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

/** Counts the remembered writes of all base paths. */
const COUNT_APPLIED = `local sum = 0
for _, key in ipairs(redis.call('KEYS', '*}:a')) do sum = sum + redis.call('ZCARD', key) end
return sum`;

async function countApplied(): Promise<number> {
  return Number(/\d+/.exec(await server.ask('EVAL', COUNT_APPLIED, '0'))?.[0]);
}

async function setUp(options: RedisOptions = {}) {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const open = clientsOf({ restartDelayMs: 0, ...options });
  const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
  await Promise.all([one.connect(), other.connect()]);
  return { proxy, one, other };
}

describe('a reply that is lost', () => {
  async function losing(proxy: FaultProxy, isDone: () => Promise<boolean>) {
    await expect.poll(isDone, { interval: 5 }).toBe(true);
    proxy.disconnect();
    proxy.heal();
  }

  const GONE = { name: 'n', value: undefined };
  const THEIRS = { name: 'n', value: 'theirs' };

  it.each<readonly [string, RecordChange, readonly RecordChange[], readonly object[]]>([
    ['makes a record', { name: 'n', value: '1', ifVersion: 'absent' }, [THEIRS], [{ value: '1', version: 0 }]],
    ['makes a record', { name: 'n', value: '1', ifVersion: 'absent' }, [GONE], [{ value: '1', version: 0 }]],
    ['changes a record', { name: 'n', value: '1', ifVersion: 1 }, [GONE, THEIRS, THEIRS], [{ value: '1', version: 2 }]],
    ['removes a record', { name: 'n', value: undefined, ifVersion: 1 }, [THEIRS, THEIRS], []],
    ['asks for nothing', { name: 'n', value: '1' }, [THEIRS], []],
  ])('of a write that %s, which others undo: it was applied once', async (_, change, meanwhile, written) => {
    const { proxy, one, other } = await setUp();
    // The first run of a script takes two requests.
    await other.records.write([{ name: 'first use', value: '1' }]);
    if (change.ifVersion !== 'absent')
      for (const value of ['a', 'b']) await other.records.write([{ name: 'n', value }]);
    const before = await other.records.read('n');
    proxy.blackHole('toClient');
    const writing = one.records.write([change]);
    await expect.poll(() => other.records.read('n'), { interval: 5 }).not.toEqual(before);
    const at = (await other.records.read('n'))?.writtenAt;
    for (const theirs of meanwhile) await other.records.write([theirs]);
    const left = await other.records.read('n');
    proxy.disconnect();
    proxy.heal();
    const records = written.map((record) => ({ name: 'n', writtenAt: at, ...record }));
    expect(await writing).toEqual({ isApplied: true, records });
    expect(await other.records.read('n')).toEqual(left);
  });

  it.each<readonly [string, RecordChange, object]>([
    ['makes a record', { name: 'n', value: '1', ifVersion: 'absent' }, { isApplied: true, records: [{ version: 0 }] }],
    ['asks for nothing', { name: 'n', value: '1' }, { isApplied: true, records: [{ version: 0 }] }],
    ['is refused', { name: 'n', value: '1', ifVersion: 7 }, { isApplied: false, conflict: 'n' }],
  ])('of a write that %s, and never arrived: it is made', async (_, change, outcome) => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toServer');
    const writing = one.records.write([change]);
    await expect.poll(() => proxy.isQuiet).toBe(false);
    proxy.disconnect();
    proxy.heal();
    expect(await writing).toMatchObject(outcome);
    expect((await other.records.read('n'))?.version).toBe('records' in outcome ? 0 : undefined);
  });

  it.each([
    ['makes a value', 'absent', Buffer.from('mine'), 0],
    ['changes a value', 0, Buffer.from('mine'), 1],
    ['removes a value', 0, undefined, undefined],
  ] as const)(
    'of a write that %s, which others make anew: it was applied once',
    async (_, ifVersion, data, version) => {
      const { proxy, one, other } = await setUp();
      const { signal } = new AbortController();
      const [mine, others] = [one.coordination!.cells, other.coordination!.cells];
      await others.write('first use', { data: Buffer.from('') }, signal);
      if (ifVersion === 0) await others.write('v', { data: Buffer.from('before') }, signal);
      const before = await others.read('v', signal);
      proxy.blackHole('toClient');
      const writing = mine.write('v', { data, ifVersion }, signal);
      await expect.poll(() => others.read('v', signal), { interval: 5 }).not.toEqual(before);
      await others.write('v', { data: undefined }, signal);
      if (ifVersion === 0) await others.write('v', { data: Buffer.from('theirs') }, signal);
      const left = await others.read('v', signal);
      proxy.disconnect();
      proxy.heal();
      expect(await writing).toEqual({ isApplied: true, version });
      expect(await others.read('v', signal)).toEqual(left);
    },
  );

  it('of a write concerns the server for a while: then it forgets the id', async () => {
    const { other } = await setUp({ sessionTimeoutMs: 1_000, connectTimeoutMs: 500 });
    const before = await countApplied();
    let writes = 0;
    const forgotten = async () => {
      await other.records.write([{ name: 'n', value: String(++writes) }]);
      return before + writes - (await countApplied());
    };
    expect(await forgotten()).toBe(0);
    await expect.poll(forgotten, { interval: 50, timeout: 5_000 }).toBeGreaterThan(0);
  });

  it('of items that are taken: they are delivered to the same taker', async () => {
    const { proxy, one, other } = await setUp();
    const { signal } = new AbortController();
    const queues = other.coordination?.queues;
    await queues?.put({ key: 'q', payloads: ['a', 'b'].map((text) => Buffer.from(text)), wait: false, signal });
    const [first] = (await queues?.take({ key: 'q', atMost: 1, wait: false, signal })) ?? [];
    await first?.ack();
    proxy.blackHole('toClient');
    const taking = one.coordination?.queues.take({ key: 'q', atMost: 1, wait: false, signal });
    await losing(proxy, async () => (await server.ask('KEYS', '*:takers:*')).includes('takers'));
    const [item] = (await taking) ?? [];
    await item?.ack();
    expect(await other.coordination?.queues.size('q', signal)).toBe(0);
  });
});

describe('messages that are lost', () => {
  it('delay a hand-over, but never stop it', async () => {
    const { one, other } = await setUp();
    for (let turn = 0; turn < 20; turn++) {
      const lease = await hold(other, 'k');
      const asked = hold(one, 'k');
      await expect.poll(async () => (await other.lineOf('k')).length, { interval: 2 }).toBe(2);
      await Promise.all([server.ask('CLIENT', 'KILL', 'TYPE', 'pubsub'), lease.release()]);
      await (await asked).release();
    }
    // A release whose connection was cut is finished on the next one.
    await expect.poll(() => other.lineOf('k')).toEqual([]);
  });
});

describe('a lease that is lost, and never released', () => {
  it('does not keep its key, although its process goes on', async () => {
    const { one, other } = await setUp();
    expect(await isFreedWhenLost({ one, other, sessionMs: SESSION_MS, limitMs: 20_000 })).toBe(true);
  });
});

describe('a process that is paused for nearly as long as its session', () => {
  it('does not keep the keys of its lost leases by another renewal', async () => {
    const sessionTimeoutMs = 6_000;
    const { one, other } = await setUp({ sessionTimeoutMs });
    const lease = await hold(one, 'k');
    const { proven } = RedisSession.prototype;
    const renewed = new Promise<void>((resolve) => {
      const spy = vi.spyOn(RedisSession.prototype, 'proven').mockImplementation(function (this: RedisSession, ...args) {
        proven.apply(this, args);
        if (this.leases.size > 0) resolve();
      });
      onTestFinished(() => spy.mockRestore());
    });
    await renewed;
    // The message of the renewal arrives beside its answer.
    await pause(5);
    // The lease is lost after that, and the session is not over yet.
    blockEventLoop(sessionTimeoutMs - 80);
    expect(lease.isHeld()).toBe(false);
    expect((await hold(other, 'k')).fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});

describe('a server that is out of reach, after it has said that the session is over', () => {
  it('does not keep a request whose caller gives up', async () => {
    const { proxy, one } = await setUp();
    await (await hold(one, 'k')).release();
    const { hurry } = Renewal.prototype;
    const doubted = new Promise<void>((resolve) => {
      const spy = vi.spyOn(Renewal.prototype, 'hurry').mockImplementation(function (this: Renewal) {
        proxy.blackHole();
        hurry.call(this);
        resolve();
      });
      onTestFinished(() => spy.mockRestore());
    });
    const sessions = (await server.ask('KEYS', '*:s')).split('\r\n').filter((line) => line.startsWith('{'));
    for (const key of sessions) await server.ask('DEL', key);
    const leaving = new AbortController();
    const asked = hold(one, 'k', { signal: leaving.signal });
    await doubted;
    const reason = new Error('gave up');
    leaving.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });
});

describe('a close whose answers are late', () => {
  it('ends a lease before another process holds its key', async () => {
    const { proxy, one, other } = await setUp();
    // The first run of a script takes two requests.
    await (await hold(other, 'first use')).release();
    const lease = await hold(one, 'k');
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.blackHole('toClient');
    const closed = one.close();
    const next = await waiting;
    expect([lease.isHeld(), next.isHeld()]).toEqual([false, true]);
    await closed;
  });
});

describe('a stall of the process', () => {
  it('is no silence of the server: answers that were not read count', async () => {
    const sessionTimeoutMs = 6_000;
    const { one, other } = await setUp({ sessionTimeoutMs });
    // The proxy before it is in this process, and stalls as well.
    await one.close();
    const lease = await hold(other, 'k');
    // The first run of a script takes two requests, and the second of them has no answer yet.
    await stallAfter(Renewal.prototype, 'renew', 1);
    const closed = vi.spyOn(RedisLink.prototype, 'close');
    onTestFinished(() => closed.mockRestore());
    for (let round = 0; round < 2; round++) {
      await stallAfter(Renewal.prototype, 'renew', sessionTimeoutMs / 3);
      // A link may be closed before, because the machine is busy.
      closed.mockClear();
      await socketsAreRead();
      expect(closed).not.toHaveBeenCalled();
      await (await hold(other, 'another')).release();
    }
    expect(lease.isHeld()).toBe(true);
  });
});

describe('a session that the server has ended', () => {
  it('leaves no entry behind, also where nobody asks for the key again', async () => {
    const basePath = 'gone/entries';
    const { one, other } = await setUp({ basePath });
    const [held, waited] = [await hold(one, 'once'), await hold(other, 'other')];
    const waiting = hold(one, 'other');
    await expect.poll(async () => (await other.lineOf('other')).length).toBe(2);
    await hold(one, 'once/read', { mode: 'read' });
    await server.ask('ZREM', `{${basePath}}:s`, String(one.vitals?.().sessionId));
    await lost(held);
    const entries = () => server.ask('KEYS', `{${basePath}}:h:lock:once*`);
    await expect.poll(entries).toBe('*0\r\n');
    await waited.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});
