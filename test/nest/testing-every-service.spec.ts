import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../lib/index.js';
import { startTesting } from './testing-services.js';

const SHORT_MS = 5;
/** No test may take so long. */
const ENDLESS_MS = 3_600_000;

describe('servers that do not answer', () => {
  it('take and give nothing of any kind', async () => {
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

  it.each([true, false])('let nobody in when what was held is given back (localLine: %s)', async (localLine) => {
    const { service, locks } = await startTesting({ localLine });
    const lease = await service.acquire('a');
    const waiting = expect(service.acquire('a', { waitMs: SHORT_MS })).rejects;
    locks.unavailable();
    await lease.release();
    await waiting.toThrow(LockUnavailableError);
    expect(locks.journal.where({ event: 'acquired' })).toHaveLength(1);
  });

  it('let in who still waits once they answer again', async () => {
    const { service, locks } = await startTesting({ localLine: false });
    const lease = await service.acquire('a');
    const waiting = service.acquire('a', { waitMs: ENDLESS_MS });
    locks.unavailable();
    await lease.release();
    locks.available();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('keep nobody outside from what they want', async () => {
    const { locks, service } = await startTesting();
    locks.unavailable();
    await locks.contend('a').held;
    locks.available();
    expect(await service.tryAcquire('a')).toBeNull();
  });
});

describe('what is lost', () => {
  it('may be an item of a queue: it comes again', async () => {
    const { coordination, locks } = await startTesting();
    const queue = coordination.queue<string>('jobs');
    await queue.put('one');
    const item = await queue.take();
    locks.loseLease('jobs');
    expect(item!.isHeld()).toBe(false);
    await expect(item!.ack()).rejects.toThrow(LockLostError);
    expect((await queue.take())?.value).toBe('one');
  });

  it('may be the place in a double barrier', async () => {
    const { coordination, locks } = await startTesting();
    const member = await coordination.doubleBarrier('start', { count: 1 }).enter();
    locks.loseLease('start');
    await expect(member.leave()).rejects.toThrow(LockLostError);
  });

  it('may be a segment, by the key that it is a part of', async () => {
    const { service, locks } = await startTesting();
    const lease = await service.segmented('stock', { segments: 2 }).acquire();
    locks.loseLease('stock');
    expect(lease.state).toBe('lost');
  });
});

describe('somebody else', () => {
  it.each([undefined, ['pdf', 'stock', 'poller']])('has what keys %j are for', async (keys) => {
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

  it('is elected after the application, when the test has it campaign', async () => {
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

  it('does not come back to a key that was taken away', async () => {
    const { service } = await startTesting({ mode: 'contended' });
    expect(await service.tryAcquire('a')).toBeNull();
    await service.revoke('a', { graceMs: 1 });
    expect(await service.tryAcquire('a')).not.toBeNull();
    expect(await service.tryAcquire('b')).toBeNull();
  });
});

describe('longestWaitMs', () => {
  it('ends every wait that has an end', async () => {
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

  it('ends no loop that consumes', async () => {
    const { coordination } = await startTesting({ longestWaitMs: 0 });
    const queue = coordination.queue<string>('jobs');
    const first = queue.consume()[Symbol.asyncIterator]().next();
    await queue.put('late');
    expect((await first).value).toMatchObject({ value: 'late' });
  });
});

describe('the journal', () => {
  it('has each key of an atomic set', async () => {
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

  it('has the terms of elections', async () => {
    const { elections, locks } = await startTesting();
    const term = await elections.campaign('poller', { label: 'me' });
    await term.resign();
    await elections.campaign('poller');
    locks.loseLease('poller');
    const rows = locks.journal.where({ key: 'poller', mode: 'leader' });
    expect(rows.map(({ event }) => event)).toEqual(['asked', 'acquired', 'released', 'asked', 'acquired', 'lost']);
    expect(rows[1]).toMatchObject({ label: 'me', fencingToken: term.fencingToken });
  });

  it('has nothing of a key that is held already, by whatever name', async () => {
    const { service, locks } = await startTesting();
    await service.using('a', () => service.using('/locks/a', () => {}));
    expect(locks.journal.entries.map(({ event }) => event)).toEqual(['asked', 'acquired', 'released']);
  });
});
