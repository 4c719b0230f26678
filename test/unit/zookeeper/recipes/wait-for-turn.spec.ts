import { describe, expect, it } from 'vitest';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import { NodeDeletedError } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import { DIRECTORY } from './fake-wait-queue.js';
import type { FakeClient, FakeLine } from './fake-wait-queue.js';
import { acquireOver, startLine } from './waiters.js';

/** One session, and its wait queue. */
function startSingle() {
  const { line, clients } = startLine(1);
  return { line, client: clients[0] ?? expect.unreachable() };
}

const OTHER = '_c_00000000-0000-0000-0000-000000000000';
const lock = (line: FakeLine) => line.enter(`${OTHER}-lock-`).path;

/** Returns a function that counts the requests of `client` from now on. */
function counting({ asked }: FakeClient) {
  const before = { ...asked };
  return () => ({
    lists: asked.lists - before.lists,
    reads: asked.reads - before.reads,
    watches: asked.watches - before.watches,
  });
}

async function entered(client: FakeClient, count: number, told: number[] = []) {
  for (let number = 0; number < count; number++) {
    void acquireOver(client, 'exclusive').then(async (lease) => {
      told.push(number);
      await lease?.release();
    });
  }
  await client.passAll();
  return told;
}

describe('a thousand waiters of one session', () => {
  it('are served in order, hundreds per turn of the event loop, with no request but their deletions', async () => {
    const { line, client } = startSingle();
    const holder = lock(line);
    const told: number[] = [];
    const counts = counting(client);
    await entered(client, 1_000, told);
    expect([told.length, line.names.length]).toEqual([0, 1_001]);
    expect(counts().lists).toBe(1);
    // The first one watches the holder. The others watch only their own znodes.
    expect([...client.watched.data].toSorted()).toEqual([...line.znodes.keys()].toSorted());

    const since = counting(client);
    line.remove(holder);
    client.passDown();
    await new Promise(setImmediate);
    // The budget of the turn leaves time for other work of this process.
    expect(told).toHaveLength(257);

    await client.passAll();
    expect(told).toEqual(Array.from({ length: 1_000 }, (_, number) => number));
    expect(since()).toEqual({ lists: 0, reads: 0, watches: 0 });
    expect([line.names, client.watched.data.size]).toEqual([[], 0]);
  });
});

describe('waiters whose connection was lost while they waited', () => {
  it('are served with one list for all of them, not with one per hand-over', async () => {
    const { line, clients } = startLine(2);
    const holder = lock(line);
    const told: number[] = [];
    for (let round = 0; round < 50; round++) for (const client of clients) await entered(client, 1, told);
    clients.forEach((client) => client.disconnect());
    clients.forEach((client) => client.reconnect());
    const counts = clients.map(counting);
    line.remove(holder);
    for (let pass = 0; pass < 200; pass++) for (const client of clients) await client.passAll();
    expect(told).toHaveLength(100);
    expect(line.names).toEqual([]);
    expect(counts.map((count) => count().lists)).toEqual([1, 1]);
  });
});

describe('waiters of two sessions in turn', () => {
  it('are served in order, each with at most two watches beside its own, and no lists', async () => {
    const { line, clients } = startLine(2);
    const [one = expect.unreachable(), other = expect.unreachable()] = clients;
    const holder = lock(line);
    const told: number[] = [];
    for (let number = 0; number < 100; number++) {
      const client = number % 2 ? other : one;
      void acquireOver(client, 'exclusive').then(async (lease) => {
        told.push(number);
        await lease?.release();
      });
      await client.passAll();
    }
    for (const { watched } of clients) expect(watched.data.size).toBeLessThanOrEqual(3 * 50);
    const since = clients.map(counting);

    line.remove(holder);
    for (let round = 0; told.length < 100 && round < 1_000; round++)
      for (const client of clients) await client.passAll();

    expect(told).toEqual(Array.from({ length: 100 }, (_, number) => number));
    for (const counts of since) expect(counts()).toMatchObject({ lists: 0 });
    expect(clients.map(({ watched }) => watched.data.size)).toEqual([0, 0]);
  });
});

describe('a waiter behind a contender of its own session', () => {
  it('continues as soon as that one releases, before the servers know', async () => {
    const { line, client } = startSingle();
    const holding = acquireOver(client, 'exclusive');
    const waiting = acquireOver(client, 'exclusive');
    await client.passAll();
    const first = await holding;
    void first?.release();
    const second = await waiting;
    expect([line.names.length, second?.isHeld()]).toEqual([2, true]);
    expect(second?.fencingToken).toBeGreaterThan(first?.fencingToken ?? expect.unreachable());
  });

  it('continues as soon as that one is aborted', async () => {
    const { line, client } = startSingle();
    const holder = lock(line);
    const abort = new AbortController();
    const outcome = expect(acquireOver(client, 'exclusive', abort.signal)).rejects.toThrow('enough');
    const waiting = acquireOver(client, 'exclusive');
    await client.passAll();
    line.remove(holder);
    abort.abort(new Error('enough'));
    await client.passAll();
    await outcome;
    expect((await waiting)?.isHeld()).toBe(true);
  });

  it('does not overtake one of another session that stands between them', async () => {
    const { line, clients } = startLine(2);
    const [one = expect.unreachable(), other = expect.unreachable()] = clients;
    const holding = acquireOver(one, 'exclusive');
    await one.passAll();
    const told: string[] = [];
    const between = acquireOver(other, 'exclusive').then((lease) => (told.push('between'), lease));
    await other.passAll();
    void acquireOver(one, 'exclusive').then(() => told.push('behind'));
    await one.passAll();

    void (await holding)?.release();
    await one.passAll();
    expect([told, line.names.length]).toEqual([[], 2]);
    await other.passAll();
    expect(told).toEqual(['between']);
    void (await between)?.release();
    await other.passAll();
    await one.passAll();
    expect(told).toEqual(['between', 'behind']);
  });

  it('is not granted when its own znode turns out to be missing', async () => {
    const { line, client } = startSingle();
    const holding = acquireOver(client, 'exclusive');
    await client.passAll();
    const waiting = acquireOver(client, 'exclusive');
    await new Promise(setImmediate);
    for (const pass of ['passUp', 'passUp', 'passDown', 'passDown'] as const) client[pass]();
    // It waits now, and has just checked its own znode.
    await new Promise(setImmediate);
    line.remove([...line.znodes.keys()].at(-1) ?? '');
    const outcome = expect(waiting).rejects.toThrow(NodeDeletedError);
    void (await holding)?.release();
    await client.passAll();
    await outcome;
  });

  it('continues however few steps after its check that one releases', async () => {
    for (let steps = 0; steps < 16; steps++) {
      const { client } = startSingle();
      const holding = acquireOver(client, 'exclusive');
      await client.passAll();
      const first = await holding;
      // The servers do not answer.
      client.delete = () => new Promise(() => {});
      let isGranted = false;
      void acquireOver(client, 'exclusive').then(() => (isGranted = true));
      await new Promise(setImmediate);
      for (const pass of ['passUp', 'passUp', 'passDown', 'passDown'] as const) client[pass]();
      for (let step = 0; step < steps; step++) await undefined;
      void first?.release();
      await client.passAll();
      expect(isGranted, `after ${steps}`).toBe(true);
    }
  });

  it('does not pass a contender whose deletion failed', async () => {
    const { line, client } = startSingle();
    client.delete = async (path) => {
      await client.sync();
      throw new KeeperError(ErrorCode.noAuth, path);
    };
    const told: number[] = [];
    for (let number = 0; number < 20; number++) {
      acquireOver(client, 'exclusive').then(
        (lease) => (told.push(number), lease?.release()),
        () => {},
      );
      await client.passAll();
    }
    expect([told, line.names.length]).toEqual([[0], 20]);
  });

  it('continues without a list when both write', async () => {
    const { client } = startSingle();
    const writing = [1, 2, 3].map(() => acquireOver(client, 'write'));
    await client.passAll();
    const since = counting(client);
    for (const each of writing) void (await each)?.release();
    await client.passAll();
    expect(since()).toEqual({ lists: 0, reads: 0, watches: 0 });
  });

  it('does not wait for a contender that is being deleted and still in the list', async () => {
    const { line, client } = startSingle();
    const holding = acquireOver(client, 'exclusive');
    await client.passAll();
    const waiting = acquireOver(client, 'exclusive');
    // The servers have read the list, but the client has not yet.
    await new Promise(setImmediate);
    client.passUp();
    client.passUp();
    void (await holding)?.release();
    client.passDown();
    client.passDown();
    expect([(await waiting)?.isHeld(), line.names.length]).toEqual([true, 2]);
  });
});

describe('a waiter', () => {
  it('watches the two contenders ahead and itself, and no others', async () => {
    const { line, client } = startSingle();
    const paths = Array.from({ length: 5 }, () => lock(line));
    // It still waits when the test ends.
    acquireOver(client, 'exclusive').catch(() => {});
    await client.passAll();
    expect([...client.watched.data].toSorted()).toEqual([...line.znodes.keys()].slice(-3).toSorted());
    expect(paths).toHaveLength(5);
  });

  it('is granted by the event itself when those ahead leave in order', async () => {
    const { line, client } = startSingle();
    const [first, second] = [lock(line), lock(line)];
    const waiting = acquireOver(client, 'exclusive');
    await client.passAll();
    line.remove(first);
    await client.passAll();
    const since = counting(client);
    line.remove(second);
    client.passDown();
    expect((await waiting)?.isHeld()).toBe(true);
    expect(since()).toEqual({ lists: 0, reads: 0, watches: 0 });
  });

  it('does not take its turn from the nearest alone: one before it still holds', async () => {
    const { line, client } = startSingle();
    const [holder, gaveUp] = [lock(line), lock(line)];
    let isGranted = false;
    void acquireOver(client, 'exclusive').then(() => (isGranted = true));
    await client.passAll();
    line.remove(gaveUp);
    await client.passAll();
    expect(isGranted).toBe(false);
    line.remove(holder);
    await client.passAll();
    expect(isGranted).toBe(true);
  });

  it('detects unseen departures, in any order', async () => {
    const { line, client } = startSingle();
    const paths = Array.from({ length: 60 }, () => lock(line));
    let isGranted = false;
    void acquireOver(client, 'exclusive').then(() => (isGranted = true));
    await client.passAll();
    const since = counting(client);
    for (const path of paths.slice(0, 58)) line.remove(path);
    await client.passAll();
    line.remove(paths[58] ?? '');
    await client.passAll();
    expect(isGranted).toBe(false);
    line.remove(paths[59] ?? '');
    await client.passAll();
    expect(isGranted).toBe(true);
    expect(since().lists).toBeLessThanOrEqual(1);
    expect(since().reads).toBeLessThanOrEqual(4);
    // Its own watch.
    expect(client.watched.data.size).toBe(1);
  });

  it('checks the contenders it did not see leave once, when it has time for it', async () => {
    const { line, client } = startSingle();
    const [first = '', second = '', third = '', nearest = ''] = [1, 2, 3, 4].map(() => lock(line));
    let isGranted = false;
    void acquireOver(client, 'exclusive').then(() => (isGranted = true));
    await client.passAll();
    line.remove(second);
    line.remove(first);
    const since = counting(client);
    line.remove(third);
    await client.passAll();
    expect(since()).toEqual({ lists: 0, reads: 2, watches: 0 });
    line.remove(nearest);
    await client.passAll();
    expect(isGranted).toBe(true);
    expect(since()).toEqual({ lists: 0, reads: 2, watches: 0 });
  });

  it('looks again after a reconnect, because what is told then is in no order', async () => {
    const { line, client } = startSingle();
    const [holder, middle] = [lock(line), lock(line)];
    let isGranted = false;
    void acquireOver(client, 'exclusive').then(() => (isGranted = true));
    await client.passAll();
    client.disconnect();
    line.remove(middle);
    const since = counting(client);
    client.reconnect();
    await client.passAll();
    expect(isGranted).toBe(false);
    expect(since().lists).toBeGreaterThan(0);
    client.disconnect();
    line.remove(holder);
    client.reconnect();
    await client.passAll();
    expect(isGranted).toBe(true);
  });

  it('leaves no watch when it is aborted, before and after its watch is set', async () => {
    const { line, client } = startSingle();
    lock(line);
    for (const pass of [0, 1, 2, 3, 4, 6, 8]) {
      const abort = new AbortController();
      const waiting = acquireOver(client, 'exclusive', abort.signal);
      const outcome = expect(waiting).rejects.toThrow('enough');
      for (let passed = 0; passed < pass; passed++) {
        await new Promise(setImmediate);
        client.passUp();
        client.passDown();
      }
      abort.abort(new Error('enough'));
      await client.passAll();
      await outcome;
      await client.passAll();
      expect([line.names.length, client.watched.data.size], `after ${pass}`).toEqual([1, 0]);
    }
  });

  it('that does not wait gets the answer, and leaves', async () => {
    const { line, client } = startSingle();
    const holder = lock(line);
    const asking = acquireOver(client, 'exclusive', new AbortController().signal, false);
    await client.passAll();
    expect(await asking).toBeNull();
    expect([line.names.length, client.asked.watches]).toEqual([1, 0]);
    line.remove(holder);
    const again = acquireOver(client, 'exclusive', new AbortController().signal, false);
    await client.passAll();
    expect((await again)?.isHeld()).toBe(true);
  });
});

describe('a writer of Curator that becomes a reader', () => {
  it('keeps a writer waiting behind it that saw the writer leave', async () => {
    const { line, client } = startSingle();
    const writer = line.enter(`${OTHER}-__WRIT__`).path;
    let isGranted = false;
    void acquireOver(client, 'write').then(() => (isGranted = true));
    await client.passAll();
    // The reader has the writer's number, and is created before the writer is deleted.
    const { path: reader } = line.make(`${OTHER}-__READ__${writer.slice(-10)}`);
    line.remove(writer);
    await client.passAll();
    expect(isGranted).toBe(false);
    line.remove(reader);
    await client.passAll();
    expect(isGranted).toBe(true);
  });

  it('lets readers behind it hold', async () => {
    const { line, client } = startSingle();
    const writer = line.enter(`${OTHER}-__WRIT__`).path;
    const waiting = acquireOver(client, 'read');
    await client.passAll();
    line.make(`${OTHER}-__READ__${writer.slice(-10)}`);
    line.remove(writer);
    await client.passAll();
    expect((await waiting)?.isHeld()).toBe(true);
  });

  it('keeps a contender waiting that watched further ahead and saw the writer leave first', async () => {
    const { line, client } = startSingle();
    const writer = line.enter(`${OTHER}-__WRIT__`).path;
    const middle = lock(line);
    let isGranted = false;
    void acquireOver(client, 'exclusive').then(() => (isGranted = true));
    await client.passAll();
    const { path: reader } = line.make(`${OTHER}-__READ__${writer.slice(-10)}`);
    line.remove(writer);
    await client.passAll();
    line.remove(middle);
    await client.passAll();
    expect(isGranted).toBe(false);
    expect(line.znodes.has(`${DIRECTORY}/${OTHER}-__READ__${writer.slice(-10)}`)).toBe(true);
    line.remove(reader);
    await client.passAll();
    expect(isGranted).toBe(true);
  });
});
