import { describe, expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { LockLostError, LockUnavailableError } from '../../../lib/contract/errors.js';
import type { LockEventTypes } from '../../../lib/service/lock-events.js';
import { leadershipsOf } from '../../../lib/elections/leaderships.js';
import { settled } from '../local/callers.js';
import { cluster } from '../schedule/cluster.js';
import { jobWith } from '../schedule/jobs.js';
import { faultsOf } from './event-referee.js';
import { startServices } from './services.js';

function start(options: Parameters<typeof startServices>[0] = {}) {
  const services = startServices(options);
  const heard = <T extends keyof LockEventTypes>(type: T): LockEventTypes[T][] => {
    const events: LockEventTypes[T][] = [];
    services.locks.events.on(type, (event) => events.push(event));
    return events;
  };
  return { ...services, heard };
}

describe('the events of a queue', () => {
  it('tell what was put, taken, acknowledged and returned, once each', async () => {
    const { coordination, heard } = start();
    const events = heard('queue');
    const queue = coordination.queue<number>('mails');
    await queue.putAll([1, 2]);
    const [first, second] = await queue.takeBatch({ atMost: 2 });
    await first?.ack();
    await first?.nack();
    await second?.nack();
    await second?.nack();
    expect(events.map(({ action, count, itemId }) => [action, count, itemId])).toEqual([
      ['put', 2, undefined],
      ['taken', 1, first?.id],
      ['taken', 1, second?.id],
      ['acked', 1, first?.id],
      ['returned', 1, second?.id],
    ]);
    expect(events.every(({ key }) => key === 'mails')).toBe(true);
  });
});

describe('the acquisitions of a queue', () => {
  it('begin with the call, and are granted with the item, after the wait', async () => {
    const { coordination, referee, heard } = start();
    const [granted, events] = [heard('acquired'), heard('queue')];
    const queue = coordination.queue<number>('mails');
    const taking = queue.take({ label: 'Mails.send' });
    expect(referee.texts).toEqual(['start']);
    const from = now();
    await settled();
    const waitedMs = now() - from;
    await queue.put(1);
    await (await taking)?.ack();
    expect(referee.texts).toEqual(['start', 'grant', 'end released']);
    expect(referee.notes[0]?.request).toMatchObject({
      key: 'mails',
      kind: 'queue',
      mode: 'exclusive',
      name: 'Mails.send',
    });
    expect(granted[0]?.waitedMs).toBeGreaterThanOrEqual(waitedMs);
    const [put, taken, acked] = events;
    expect(taken?.waitedMs).toBeGreaterThanOrEqual(waitedMs);
    expect(put?.waitedMs).toBeGreaterThanOrEqual(0);
    expect(acked).toMatchObject({ action: 'acked', waitedMs: undefined });
  });

  it('of a batch are one for each item, which all waited as long', async () => {
    const { coordination, referee, heard } = start();
    const granted = heard('acquired');
    const queue = coordination.queue<number>('mails');
    const taking = queue.takeBatch({ atMost: 5 });
    const from = now();
    await settled();
    const waitedMs = now() - from;
    await queue.putAll([1, 2, 3]);
    const items = await taking;
    expect(items).toHaveLength(3);
    expect(granted.every((grant) => grant.waitedMs >= waitedMs)).toBe(true);
    expect(new Set(granted.map(({ request }) => request)).size).toBe(3);
    await Promise.all(items.map((item) => item.ack()));
    expect(faultsOf(referee.notes)).toEqual([]);
    expect(referee.texts.filter((text) => text === 'end released')).toHaveLength(3);
  });

  it('end with a miss when the queue remains empty, without an error', async () => {
    const { coordination, referee, heard } = start();
    const missed = heard('missed');
    const queue = coordination.queue<number>('mails');
    expect(await queue.take({ waitMs: 0 })).toBeNull();
    expect(await queue.take({ waitMs: 5 })).toBeNull();
    const enough = new AbortController();
    const taking = queue.take({ signal: enough.signal });
    enough.abort(new Error('enough'));
    await expect(taking).rejects.toThrow('enough');
    expect(missed.map(({ reason, error }) => [reason, String(error)])).toEqual([
      ['busy', 'undefined'],
      ['timeout', 'undefined'],
      ['aborted', 'Error: enough'],
    ]);
    expect(missed[1]?.waitedMs).toBeGreaterThan(0);
    expect(faultsOf(referee.notes)).toEqual([]);
  });

  it('end with a miss each when the application shuts down meanwhile', async () => {
    const { coordination, referee, heard, close } = start();
    const missed = heard('missed');
    const taking = coordination.queue<number>('mails').take();
    const entering = coordination.doubleBarrier('gate', { count: 2 }).enter();
    await settled();
    const ends = [expect(taking).rejects, expect(entering).rejects];
    const closing = close();
    await Promise.all(ends.map((end) => end.toMatchObject({ code: 'LOCK_SHUTDOWN' })));
    await closing;
    expect(missed.map(({ reason }) => reason)).toEqual(['shutdown', 'shutdown']);
    expect(faultsOf(referee.notes)).toEqual([]);
  });
});

describe('the acquisitions of a double barrier', () => {
  it('begin with the call, and are granted together', async () => {
    const { coordination, referee, heard } = start();
    const granted = heard('acquired');
    const barrier = coordination.doubleBarrier('gate', { count: 2 });
    const first = barrier.enter();
    expect(referee.texts).toEqual(['start']);
    const from = now();
    await settled();
    const waitedMs = now() - from;
    const second = await barrier.enter();
    await (await first).goOut();
    await second.goOut();
    expect(referee.notes[0]?.request).toMatchObject({ key: 'gate', kind: 'barrier', mode: 'read' });
    expect(granted.map((grant) => grant.lease.mode)).toEqual(['read', 'read']);
    expect(Math.max(...granted.map((grant) => grant.waitedMs))).toBeGreaterThanOrEqual(waitedMs);
    expect(faultsOf(referee.notes)).toEqual([]);
  });

  it('end with a miss when too few come', async () => {
    const { coordination, heard } = start();
    const missed = heard('missed');
    const entering = coordination.doubleBarrier('gate', { count: 2 }).enter({ waitMs: 5 });
    await expect(entering).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(missed).toMatchObject([{ reason: 'timeout', error: { code: 'LOCK_TIMEOUT' } }]);
  });
});

describe('the events of a stock', () => {
  it('tell what was sold, sold out, refunded and restocked', async () => {
    const { locks, heard } = start();
    const events = heard('stock');
    const stock = locks.stock('coupons', { segments: 2 });
    await stock.restock(4);
    const order = await stock.deduct(3);
    expect(await stock.deduct(3)).toBeNull();
    await stock.refund(order ?? expect.unreachable());
    expect(await stock.refund(order ?? expect.unreachable())).toBe(false);
    expect(events.map(({ result, key, units, parts }) => [result, key, units, parts])).toEqual([
      ['restocked', 'coupons', 4, 0],
      ['sold', 'coupons', 3, 2],
      ['soldOut', 'coupons', 3, 0],
      ['refunded', 'coupons', 0, 0],
    ]);
  });

  it('tell of conflicts with other processes', async () => {
    const { locks, backend, heard } = start();
    const stock = locks.stock('coupons', { segments: 1 });
    await stock.restock(4);
    const events = heard('stock');
    const write = backend.records.write.bind(backend.records);
    let conflicts = 2;
    backend.records.write = async (changes) => {
      if (conflicts-- > 0) return { isApplied: false, conflict: 'as another process had it' };
      return write(changes);
    };
    await stock.deduct(1);
    expect(events.map(({ result, tries }) => [result, tries])).toEqual([
      ['conflict', 1],
      ['conflict', 2],
      ['sold', 0],
    ]);
  });
});

describe('the events of an election', () => {
  it('name the leader, and that a term is over, also when it is lost', async () => {
    const { elections, heard } = start();
    const events = heard('election');
    const [first, second] = [await elections.campaign('poller'), elections.campaign('poller')];
    await first.resign();
    await (await second).resign();
    await settled();
    const changes = events.map(({ change, name, term }) => [change, name, term]);
    expect(changes).toHaveLength(4);
    expect(changes).toEqual(
      expect.arrayContaining([
        ['elected', 'poller', first.fencingToken],
        ['deposed', 'poller', first.fencingToken],
        ['elected', 'poller', (await second).fencingToken],
        ['deposed', 'poller', (await second).fencingToken],
      ]),
    );
  });
});

describe('the events of a key', () => {
  it('tell that it is revoked', async () => {
    const { locks, heard } = start();
    const events = heard('revoke');
    await locks.revoke('k', { graceMs: 0 });
    await locks.revoke('k');
    expect(events).toMatchObject([
      { key: 'k', graceMs: 0, forced: true },
      { key: 'k', graceMs: 10_000, forced: false },
    ]);
  });

  it('tell that this process gives it up, and how long its callers waited for each other', async () => {
    const { locks, heard } = start();
    const events = heard('localEnd');
    const first = await locks.acquire('k');
    const second = locks.acquire('k');
    const third = locks.acquire('k');
    await settled();
    await first.release();
    await (await second).release();
    await (await third).release();
    await settled();
    const sum = (of: 'handOvers' | 'heldMs' | 'blockedMs') => events.reduce((all, event) => all + event[of], 0);
    // On a slow machine, the limit on hand-overs ends a lease between two of them.
    expect(sum('handOvers')).toBe(3 - events.length);
    expect(sum('heldMs')).toBeGreaterThan(0);
    expect(sum('blockedMs')).toBeGreaterThan(0);
    expect(events.at(-1)).toMatchObject({ key: 'k', mode: 'exclusive', why: 'idle' });
  });

  it('tell that it was lost', async () => {
    const { locks, backend, heard } = start();
    const events = heard('localEnd');
    await locks.acquire('k');
    backend.leaseOn('k')?.suspend();
    backend.leaseOn('k')?.lose(new LockLostError('k', 'test'));
    await settled();
    expect(events.map(({ why }) => why)).toEqual(['lost']);
  });
});

describe('the events of jobs', () => {
  it('are those of CronRunsService.events', async () => {
    const { one } = cluster(1);
    const heard: LockEventTypes['cron'][] = [];
    one.locks.events.on('cron', (event) => heard.push(event));
    await one.jobs.fire(jobWith(), async () => 'done');
    await one.jobs.fire(jobWith(), async () => 'not again');
    expect(heard.map(({ event }) => event.type)).toEqual(['started', 'finished', 'skipped']);
    expect(heard.map(({ event }) => event)).toEqual(one.events);
  });
});

describe('the trouble of a campaign', () => {
  it('is an event with the error', async () => {
    const { locks, backend, elections, heard } = start();
    const events = heard('election');
    const error = new LockUnavailableError('no server answers');
    backend.elections.campaign = () => Promise.reject(error);
    leadershipsOf(locks)?.of('poller').begin();
    await settled();
    expect(events[0]).toMatchObject({ change: 'trouble', name: 'poller', term: undefined });
    expect(String(events[0]?.error)).toContain('no server answers');
    elections.beforeApplicationShutdown();
  });
});
