import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../lib/index.js';
import { startTesting } from './testing-services.js';

const SHORT_MS = 5;
/** A wait that is longer than any test. */
const ENDLESS_MS = 3_600_000;

describe('servers that do not answer', () => {
  it('refuse all operations of every service', async () => {
    const { coordination, service, locks } = await startTesting();
    const queue = coordination.queue('jobs');
    await queue.put('before');
    const item = await queue.take();
    const semaphore = service.semaphore('pdf', { permits: 1 });
    locks.unavailable();
    for (const call of [
      () => queue.put('x'),
      () => queue.take({ waitMs: 0 }),
      () => queue.size(),
      () => item!.ack(),
      () => coordination.barrier('gate').raise(),
      () => coordination.doubleBarrier('start', { count: 1 }).enter(),
      () => coordination.counter('visits').add(1),
      () => coordination.value('theme', { initial: 'dark' }).get(),
      () => semaphore.permits(),
      () => semaphore.setPermits(3),
      () => service.multi(['a', 'b'], { atomic: true }).acquire(),
    ]) {
      await expect(call(), String(call)).rejects.toThrow(LockUnavailableError);
    }
    locks.available();
    expect(await queue.size()).toBe(1);
    expect(await coordination.counter('visits').add(1)).toMatchObject({ value: 1 });
  });

  it.each([true, false])('grant nothing when a held lease is released (localLine: %s)', async (localLine) => {
    const { service, locks } = await startTesting({ localLine });
    const lease = await service.acquire('a');
    const waiting = expect(service.acquire('a', { waitMs: SHORT_MS })).rejects;
    locks.unavailable();
    await lease.release();
    await waiting.toThrow(LockUnavailableError);
    expect(locks.journal.where({ event: 'acquired' })).toHaveLength(1);
  });

  it('grant a waiting request once they are reachable again', async () => {
    const { service, locks } = await startTesting({ localLine: false });
    const lease = await service.acquire('a');
    const waiting = service.acquire('a', { waitMs: ENDLESS_MS });
    locks.unavailable();
    await lease.release();
    locks.available();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('do not affect foreign contenders', async () => {
    const { locks, service } = await startTesting();
    locks.unavailable();
    await locks.contend('a').held;
    locks.available();
    expect(await service.tryAcquire('a')).toBeNull();
  });
});

describe('a loss', () => {
  it('of a queue item puts it back into the queue', async () => {
    const { coordination, locks } = await startTesting();
    const queue = coordination.queue<string>('jobs');
    await queue.put('one');
    const item = await queue.take();
    locks.loseLease('jobs');
    expect(item!.isHeld()).toBe(false);
    await expect(item!.ack()).rejects.toThrow(LockLostError);
    expect((await queue.take())?.value).toBe('one');
  });

  it('can affect a membership of a double barrier', async () => {
    const { coordination, locks } = await startTesting();
    const member = await coordination.doubleBarrier('start', { count: 1 }).enter();
    locks.loseLease('start');
    await expect(member.leave()).rejects.toThrow(LockLostError);
  });

  it('can affect a segment, by the key that it belongs to', async () => {
    const { service, locks } = await startTesting();
    const lease = await service.segmented('stock', { segments: 2 }).acquire();
    locks.loseLease('stock');
    expect(lease.state).toBe('lost');
  });
});

describe('a foreign contender', () => {
  it.each([undefined, ['pdf', 'stock', 'poller']])('holds the objects of all kinds for the keys %j', async (keys) => {
    const { service, elections, locks } = await startTesting({ mode: 'contended', ...(keys && { keys }) });
    const semaphore = service.semaphore('pdf', { permits: 3 });
    const segmented = service.segmented('stock', { segments: 2 });
    expect(await semaphore.tryAcquire()).toBeNull();
    expect(await segmented.tryAcquire()).toBeNull();
    expect(await elections.leader('poller')).toMatchObject({ isOwn: false, id: 'somebody else' });
    await expect(elections.campaign('poller', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
    for (const key of ['pdf', 'stock', 'poller']) await locks.letGo(key);
    expect(await semaphore.tryAcquire({ permits: 3 })).not.toBeNull();
    expect(await segmented.tryAcquire()).not.toBeNull();
    await elections.campaign('poller', { waitMs: 0 });
    expect(await elections.leader('poller')).toMatchObject({ isOwn: true });
  });

  it('is elected after the application, when the test lets it campaign', async () => {
    const { elections, locks } = await startTesting();
    const term = await elections.campaign('poller');
    const other = locks.contend('poller', 'leader');
    expect(other.isHolding).toBe(false);
    await term.resign();
    await other.held;
    expect(await elections.leader('poller')).toMatchObject({ isOwn: false });
    await locks.letGo('poller');
    expect(await elections.leader('poller')).toBeNull();
  });

  it('does not return to a key that was revoked', async () => {
    const { service } = await startTesting({ mode: 'contended' });
    expect(await service.tryAcquire('a')).toBeNull();
    await service.revoke('a', { graceMs: 1 });
    expect(await service.tryAcquire('a')).not.toBeNull();
    expect(await service.tryAcquire('b')).toBeNull();
  });
});

describe('longestWaitMs', () => {
  it('ends every limited wait', async () => {
    const { service, coordination, elections } = await startTesting({ mode: 'contended', longestWaitMs: SHORT_MS });
    const barrier = coordination.barrier('gate');
    await barrier.raise();
    const options = { waitMs: ENDLESS_MS };
    for (const call of [
      () => service.readWriteLock('a').read.acquire(options),
      () => service.multi(['a', 'b']).acquire(options),
      () => service.multi(['a', 'b'], { atomic: true }).acquire(options),
      () => service.semaphore('a', { permits: 1 }).acquire(options),
      () => service.segmented('a', { segments: 3 }).acquire(options),
      () => service.segmented('a', { segments: 3 }).using(() => {}, options),
      () => service.segmented('a', { segments: 3 }).withAll(() => {}, options),
      () => elections.campaign('a', options),
      () => barrier.wait(options),
    ]) {
      await expect(call(), String(call)).rejects.toThrow(LockTimeoutError);
    }
    expect(await coordination.queue('jobs').take(options)).toBeNull();
  });

  it('does not end a loop that consumes', async () => {
    const { coordination } = await startTesting({ longestWaitMs: 0 });
    const queue = coordination.queue<string>('jobs');
    const first = queue.consume()[Symbol.asyncIterator]().next();
    await queue.put('late');
    expect((await first).value).toMatchObject({ value: 'late' });
  });
});

describe('the journal', () => {
  it('contains each key of an atomic set', async () => {
    const { service, locks } = await startTesting({ longestWaitMs: SHORT_MS });
    const set = service.multi(['b', 'a'], { atomic: true });
    await (await set.acquire({ label: 'transfer' })).release();
    locks.contend('b');
    await expect(set.acquire()).rejects.toThrow(LockTimeoutError);
    const rows = locks.journal.entries.map(({ event, key, label }) => [event, key, label].join(' ').trim());
    expect(rows.sort()).toEqual([
      'acquired a transfer',
      'acquired b transfer',
      'asked a',
      'asked a transfer',
      'asked b',
      'asked b transfer',
      'released a transfer',
      'released b transfer',
      'timed out a',
      'timed out b',
    ]);
  });

  it('contains the terms of elections', async () => {
    const { elections, locks } = await startTesting();
    const term = await elections.campaign('poller', { label: 'me' });
    await term.resign();
    await elections.campaign('poller');
    locks.loseLease('poller');
    const rows = locks.journal.where({ key: 'poller', mode: 'leader' });
    expect(rows.map(({ event }) => event)).toEqual(['asked', 'acquired', 'released', 'asked', 'acquired', 'lost']);
    expect(rows[1]).toMatchObject({ label: 'me', fencingToken: term.fencingToken });
  });

  it('contains no re-entrant hold of a key, under any of its names', async () => {
    const { service, locks } = await startTesting();
    await service.using('a', () => service.using('/locks/a', () => {}));
    expect(locks.journal.entries.map(({ event }) => event)).toEqual(['asked', 'acquired', 'released']);
  });
});
