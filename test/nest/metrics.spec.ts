import 'reflect-metadata';
import { Injectable, Logger } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { nextTurn } from '../../lib/async/timer.js';
import {
  channels,
  CoordinationService,
  DistributedLock,
  getLockServiceToken,
  LockConfigurationError,
  LockLostError,
  LockOverdueError,
  LockShutdownError,
  LockModule,
  LockService,
  LockUnavailableError,
} from '../../lib/index.js';
import { LockMetricsModule } from '../../lib/metrics/index.js';
import type { LockMetricsOptions } from '../../lib/metrics/index.js';
import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { connectionOf } from '../../lib/service/lock.service.js';
import { StatefulBackend } from '../unit/service/stateful.backend.js';
import { started } from './app.js';

@Injectable()
class Orders {
  readonly entered = deferred();
  readonly mayEnd = deferred();

  @DistributedLock((id: string) => `secret/${id}`)
  async place(_id: string) {
    this.entered.resolve();
    await this.mayEnd.promise;
  }
}

interface Metered {
  readonly registry?: Registry;
  readonly options?: LockMetricsOptions;
  readonly name?: string;
  readonly sessionTimeoutMs?: number;
}

/** An application with metrics, and its scrape as numbers by name and labels. */
async function startMetered({
  registry = new Registry(),
  options = {},
  name = 'default',
  sessionTimeoutMs = 60_000,
}: Metered = {}) {
  const backend = new StatefulBackend();
  backend.sessionTimeoutMs = sessionTimeoutMs;
  const module = LockModule.forRoot({ name, service: 'test', backend: { name: 'stateful', create: () => backend } });
  const metrics: DynamicModule = LockMetricsModule.forRoot({ registry, connections: [name], ...options });
  const imports = [metrics, module];
  const providers = name === 'default' ? [Orders] : [];
  const app = await started(Test.createTestingModule({ imports, providers }).compile());
  const locks = app.get<LockService>(getLockServiceToken(name));
  return { app, backend, locks, registry, scrape: () => scrape(registry) };
}

async function scrape(registry: Registry): Promise<Scrape> {
  const text = await registry.metrics();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Scrape(
    text,
    new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))])),
  );
}

class Scrape {
  constructor(
    readonly text: string,
    readonly values: ReadonlyMap<string, number>,
  ) {
    // Prometheus refuses a scrape that has a sample twice.
    const samples = text.split('\n').filter((line) => /^\w+\{/.test(line));
    if (samples.length > values.size) throw new Error(`a sample is there twice:\n${text}`);
  }

  /** The value of the series with these labels, among others. The metric has no prefix. */
  of(metric: string, labels: Record<string, string> = {}): number | undefined {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const found = [...this.values].filter(
      ([series]) => series.startsWith(`distributed_lock_${metric}{`) && wanted.every((label) => series.includes(label)),
    );
    return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + value, 0);
  }

  /** All values of a label. */
  valuesOf(label: string): ReadonlySet<string> {
    return new Set([...this.text.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map(([, value = '']) => value));
  }
}

describe('the metrics of acquisitions', () => {
  it('count waits by their result, and holds', async () => {
    const { locks, backend, scrape: look } = await startMetered();
    const lease = await locks.acquire('a', { label: 'one' });
    expect(await locks.tryAcquire('a', { label: 'one' })).toBeNull();
    await expect(locks.acquire('a', { label: 'one', waitMs: 1 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const given = new AbortController();
    const aborted = locks.acquire('a', { label: 'one', signal: given.signal });
    given.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await lease.release();
    vi.spyOn(backend, 'acquire').mockRejectedValueOnce(new LockUnavailableError('no server', { key: 'a' }));
    await expect(locks.acquire('a', { label: 'one' })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    const seen = await look();
    const one = { connection: 'default', lock: 'one', mode: 'exclusive' };
    for (const result of ['acquired', 'busy', 'timeout', 'aborted', 'unavailable']) {
      expect(seen.of('wait_duration_seconds_count', { ...one, result })).toBe(1);
      expect(seen.of('wait_duration_seconds_bucket', { ...one, result, le: '+Inf' })).toBe(1);
    }
    expect(seen.of('hold_duration_seconds_count', one)).toBe(1);
    expect(seen.of('hold_duration_seconds_sum', one)).toBeGreaterThan(0);
    expect(seen.text).toContain('# TYPE distributed_lock_wait_duration_seconds histogram');
    expect(seen.text).toContain('# TYPE distributed_lock_handovers_total counter');
    expect(seen.text).toContain('# TYPE distributed_lock_held gauge');
  });

  it('equal a model of counters beside random traffic', async () => {
    const step = fc.record({
      label: fc.constantFrom('one', 'two', undefined),
      mode: fc.constantFrom('exclusive', 'read', 'write', 'permit'),
      tries: fc.boolean(),
      turns: fc.nat(4),
    });
    let handOvers = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { app, locks, scrape: look } = await startMetered();
        const model = new Map<string, number>();
        let ownHandOvers = 0;
        locks.events.on('acquired', ({ handOver }) => void (ownHandOvers += handOver > 0 ? 1 : 0));
        const count = (series: string) => model.set(series, (model.get(series) ?? 0) + 1);
        await Promise.all(
          steps.map(async ({ label, mode, tries, turns }) => {
            const lock =
              mode === 'permit'
                ? locks.semaphore('permits', { permits: 2 })
                : mode === 'exclusive'
                  ? locks.mutex('k')
                  : locks.readWriteLock('k')[mode as 'read' | 'write'];
            const name = label ?? (mode === 'permit' ? 'semaphore' : 'unnamed');
            const lease = tries ? await lock.tryAcquire({ label }) : await lock.acquire({ label, waitMs: Infinity });
            count(`wait ${name} ${mode} ${lease ? 'acquired' : 'busy'}`);
            if (!lease) return;
            for (let turn = 0; turn < turns; turn++) await nextTurn();
            await lease.release();
            count(`hold ${name} ${mode}`);
          }),
        );
        const seen = await look();
        const counted = [...seen.values].flatMap(([series, value]) => {
          const [, metric] = /^distributed_lock_(wait|hold)_duration_seconds_count/.exec(series) ?? [];
          const value_ = (label: string) => new RegExp(`${label}="([^"]*)"`).exec(series)?.[1];
          const parts = [metric, value_('lock'), value_('mode'), value_('result')].filter((part) => part !== undefined);
          return metric === undefined || value === 0 ? [] : [[parts.join(' '), value] as const];
        });
        expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(model));
        expect(seen.of('handovers_total') ?? 0).toBe(ownHandOvers);
        handOvers += ownHandOvers;
        expect(seen.of('held') ?? 0).toBe(0);
        expect(seen.of('waiting') ?? 0).toBe(0);
        expect(seen.of('leases_lost_total') ?? 0).toBe(0);
        await app.close();
      }),
      { numRuns: 12 },
    );
    expect(handOvers).toBeGreaterThan(0);
  });

  it('show what is held and waited for now', async () => {
    const { locks, scrape: look } = await startMetered();
    const lease = await locks.acquire('a', { label: 'one' });
    const granted = await look();
    expect(granted.of('held', { lock: 'one' })).toBe(1);
    expect(granted.of('waiting', { lock: 'one' })).toBe(0);
    const waiting = locks.acquire('a', { label: 'two', waitMs: Infinity });
    await expect.poll(async () => (await look()).of('oldest_wait_seconds', { lock: 'two' })).toBeGreaterThan(0);
    const during = await look();
    expect(during.of('held', { lock: 'one' })).toBe(1);
    expect(during.of('waiting', { lock: 'one' })).toBe(0);
    expect(during.of('waiting', { lock: 'two' })).toBe(1);
    expect(during.of('oldest_hold_seconds', { lock: 'one' })).toBeGreaterThan(0);
    await lease.release();
    await (await waiting).release();
    const after = await look();
    expect(after.of('held')).toBe(0);
    expect(after.of('waiting')).toBe(0);
    expect(after.of('oldest_hold_seconds')).toBe(0);
    expect(after.of('oldest_wait_seconds')).toBe(0);
  });

  it('charge the holder with the time that others of the process have waited for it', async () => {
    const { locks, scrape: look } = await startMetered();
    const lease = await locks.acquire('a', { label: 'slow' });
    const waits = [1, 2].map(() => locks.using('a', () => {}, { label: 'quick' }));
    await expect.poll(async () => (await look()).of('oldest_wait_seconds', { lock: 'quick' })).toBeGreaterThan(0.02);
    await lease.release();
    await Promise.all(waits);
    const seen = await look();
    const waited = seen.of('wait_duration_seconds_sum', { lock: 'quick', result: 'acquired' }) as number;
    const slow = seen.of('blocking_seconds_total', { lock: 'slow' }) as number;
    const quick = seen.of('blocking_seconds_total', { lock: 'quick' }) as number;
    // Two callers have waited for it at once, and no time is counted twice.
    expect(slow).toBeGreaterThan(0.03);
    expect(slow + quick).toBeLessThan(waited * 1.5 + 0.05);
  });

  it('count a lost lease once, from 0, and hold it no more', async () => {
    const { app, backend, scrape: look } = await startMetered();
    const orders = app.get(Orders);
    const placed = orders.place('1');
    placed.catch(() => {});
    await orders.entered.promise;
    const before = await look();
    for (const reason of ['lost', 'revoked', 'overdue', 'shutdown']) {
      expect(before.of('leases_lost_total', { lock: 'Orders.place', reason })).toBe(0);
    }
    expect(before.of('held')).toBe(1);
    backend.leaseOn('secret/1')?.lose(new LockLostError('secret/1', 'the test'));
    const lost = await look();
    expect(lost.of('held')).toBe(0);
    expect(lost.of('leases_lost_total', { lock: 'Orders.place', reason: 'lost' })).toBe(1);
    orders.mayEnd.resolve();
    await expect(placed).rejects.toBeInstanceOf(LockLostError);
    const after = await look();
    expect(after.of('held')).toBe(0);
    expect(after.of('leases_lost_total')).toBe(1);
    expect(after.of('hold_duration_seconds_count', { lock: 'Orders.place' })).toBe(1);
  });

  it('tell a revoked lease from one that was lost by itself', async () => {
    const { locks, scrape: look } = await startMetered();
    const lease = await locks.acquire('a');
    await locks.revoke('a', { graceMs: 0 });
    expect(lease.isHeld()).toBe(false);
    expect((await look()).of('leases_lost_total', { reason: 'revoked' })).toBe(1);
    expect((await look()).of('leases_lost_total', { reason: 'lost' })).toBe(0);
  });
});

describe('a loss', () => {
  it.each([
    ['overdue', new LockOverdueError('a', 10)],
    ['shutdown', new LockShutdownError('a')],
    ['lost', new LockLostError('a', 'the test')],
  ])('is counted as %s', async (reason, error) => {
    const { locks, backend, scrape: look } = await startMetered();
    await locks.acquire('a');
    backend.leaseOn('a')?.lose(error);
    const seen = await look();
    expect(seen.of('leases_lost_total', { reason })).toBe(1);
    expect(seen.of('leases_lost_total')).toBe(1);
  });
});

describe('the metrics of queues and barriers', () => {
  it('are waits of their own, which do not count as waits for a holder', async () => {
    const { app, scrape: look } = await startMetered({ options: { nameOf: ({ key }) => key } });
    const coordination = app.get(CoordinationService);
    const mails = coordination.queue<string>('mails');
    expect(await mails.take({ waitMs: 0 })).toBeNull();
    expect(await mails.take({ waitMs: 1 })).toBeNull();
    const taking = mails.take();
    const gate = coordination.doubleBarrier('gate', { count: 2 });
    await expect(gate.enter({ waitMs: 1 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const entering = gate.enter();
    await nextTurn();
    const waiting = await look();
    expect(waiting.of('waiting') ?? 0).toBe(0);
    expect(waiting.of('oldest_wait_seconds') ?? 0).toBe(0);

    await mails.put('x');
    const item = await taking;
    const members = await Promise.all([entering, gate.enter()]);
    expect((await look()).of('held', { lock: 'mails' })).toBe(1);
    expect((await look()).of('held', { lock: 'gate', mode: 'read' })).toBe(2);
    await item?.ack();
    await Promise.all(members.map((member) => member.goOut()));
    const seen = await look();
    for (const result of ['acquired', 'busy', 'timeout']) {
      expect(seen.of('queue_wait_duration_seconds_count', { queue: 'mails', result })).toBe(1);
    }
    expect(seen.of('queue_wait_duration_seconds_sum', { queue: 'mails', result: 'acquired' })).toBeGreaterThan(0);
    expect(seen.of('barrier_wait_duration_seconds_count', { barrier: 'gate', result: 'acquired' })).toBe(2);
    expect(seen.of('barrier_wait_duration_seconds_count', { barrier: 'gate', result: 'timeout' })).toBe(1);
    expect(seen.of('hold_duration_seconds_count', { lock: 'mails' })).toBe(1);
    expect(seen.of('hold_duration_seconds_count', { lock: 'gate' })).toBe(2);
    expect(seen.of('wait_duration_seconds_count', { lock: 'mails' })).toBeUndefined();
    expect(seen.of('held')).toBe(0);
  });
});

describe('the names on metrics', () => {
  it('are labels, and never keys', async () => {
    const { app, locks, scrape: look } = await startMetered();
    const orders = app.get(Orders);
    orders.mayEnd.resolve();
    await orders.place('4711471147114711');
    await locks.using('secret/a', () => {});
    await locks.semaphore('secret/b', { permits: 1 }).using(() => {});
    await app.get(CoordinationService).queue<string>('secret-queue').put('x');
    await locks.stock('secret/stock', { segments: 1 }).restock(1);
    const seen = await look();
    expect(seen.text).not.toMatch(/secret|4711471147114711/);
    expect(seen.valuesOf('lock')).toContain('Orders.place');
    expect(seen.valuesOf('lock')).toContain('unnamed');
    expect(seen.of('queue_items_total', { queue: 'queue', action: 'put' })).toBe(1);
    expect(seen.of('stock_calls_total', { stock: 'stock', result: 'restocked' })).toBe(1);
  });

  it('are those of nameOf, and the default where it has none or fails', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    const nameOf: LockMetricsOptions['nameOf'] = ({ key, label, kind }) => {
      if (key.startsWith('bad')) throw new Error('no name');
      return label === undefined ? `${kind} ${key.split('/')[0]}` : undefined;
    };
    const { locks, scrape: look } = await startMetered({ options: { nameOf } });
    await locks.using('a/1', () => {});
    await locks.using('a/2', () => {}, { label: 'labelled' });
    for (let call = 0; call < 20; call++) await locks.using('bad/1', () => {});
    expect((await look()).valuesOf('lock')).toEqual(new Set(['lock a', 'labelled', 'unnamed']));
    expect(error).toHaveBeenCalledOnce();
    error.mockRestore();
  });

  it('are limited: 10,000 labels are 201 names, with one warning', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const { locks, scrape: look } = await startMetered();
    for (let id = 0; id < 10_000; id++) await locks.using('a', () => {}, { label: `order ${id}` });
    const seen = await look();
    expect(seen.valuesOf('lock').size).toBe(201);
    expect(seen.of('hold_duration_seconds_count', { lock: 'other' })).toBe(9_800);
    const warnings = warn.mock.calls.filter(([message]) => String(message).includes('maxNames'));
    expect(warnings).toHaveLength(1);
    warn.mockRestore();
  });
});

describe('the metrics of a session', () => {
  it('show its state, its losses and the time without a server', async () => {
    const { backend, scrape: look } = await startMetered();
    backend.turn('connected');
    const states = async () => {
      const seen = await look();
      return ['connected', 'suspended', 'lost'].map((state) => seen.of('session_state', { state }));
    };
    expect(await states()).toEqual([1, 0, 0]);
    expect((await look()).of('session_losses_total')).toBe(0);
    expect((await look()).of('session_suspended_seconds_total')).toBe(0);
    expect((await look()).of('session_timeout_seconds')).toBe(60);
    backend.turn('suspended');
    expect(await states()).toEqual([0, 1, 0]);
    // It grows while the outage goes on.
    await expect.poll(async () => (await look()).of('session_suspended_seconds_total')).toBeGreaterThan(0.01);
    backend.turn('lost');
    expect(await states()).toEqual([0, 0, 1]);
    backend.turn('connected');
    expect(await states()).toEqual([1, 0, 0]);
    const after = (await look()).of('session_suspended_seconds_total');
    await nextTurn();
    expect((await look()).of('session_suspended_seconds_total')).toBe(after);
    expect((await look()).of('session_losses_total')).toBe(1);
  });

  it('show the least margin since the last scrape, and only while a lease is held', async () => {
    const { backend, locks, scrape: look } = await startMetered();
    expect((await look()).of('lease_margin_seconds')).toBeUndefined();
    const lease = await locks.acquire('a');
    expect((await look()).of('lease_margin_seconds')).toBe(1);
    backend.marginMs = 200;
    expect((await look()).of('lease_margin_seconds')).toBe(0.2);
    backend.marginMs = 900;
    expect((await look()).of('lease_margin_seconds')).toBe(0.9);
    await lease.release();
    expect((await look()).of('lease_margin_seconds')).toBeUndefined();
  });

  it('look at the margin between two scrapes', async () => {
    const { backend, locks, scrape: look } = await startMetered({ sessionTimeoutMs: 600 });
    const lease = await locks.acquire('a');
    const vitals = vi.spyOn(backend, 'vitals');
    await look();
    backend.marginMs = 100;
    const looks = vitals.mock.calls.length;
    await expect.poll(() => vitals.mock.calls.length).toBeGreaterThan(looks + 4);
    backend.marginMs = 5_000;
    expect((await look()).of('lease_margin_seconds')).toBe(0.1);
    await lease.release();
  });
});

describe('the metrics of elections', () => {
  it('show whether this application leads, and no waits or holds', async () => {
    const { app, scrape: look } = await startMetered();
    const leader = app.get(LeaderElectionService);
    const term = await leader.campaign('poller');
    expect((await look()).of('leader', { election: 'poller' })).toBe(1);
    expect((await look()).of('held') ?? 0).toBe(0);
    expect((await look()).of('wait_duration_seconds_count') ?? 0).toBe(0);
    await term.resign();
    expect((await look()).of('leader', { election: 'poller' })).toBe(0);
  });
});

describe('a registry', () => {
  it('may have the format of OpenMetrics', async () => {
    const registry = new Registry();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    const { locks } = await startMetered({ registry });
    await locks.using('a', () => {}, { label: 'one' });
    const text = await registry.metrics();
    expect(text).toContain('# TYPE distributed_lock_handovers counter');
    expect(text).toContain('distributed_lock_handovers_total{connection="default",lock="one",mode="exclusive"} 0');
    expect(text).not.toContain('total_total');
  });

  it('is shared by applications, each with its own connection or with the same one', async () => {
    const registry = new Registry();
    const one = await startMetered({ registry });
    const two = await startMetered({ registry });
    await startMetered({ registry, name: 'second' });
    const leases = await Promise.all([one, two].map(({ locks }) => locks.acquire('a', { label: 'both' })));
    const seen = await scrape(registry);
    expect(seen.of('held', { lock: 'both' })).toBe(2);
    expect(seen.of('wait_duration_seconds_count', { lock: 'both', result: 'acquired' })).toBe(2);
    expect(seen.of('session_state', { connection: 'default', state: 'connected' })).toBe(1);
    expect(seen.of('session_state', { connection: 'second', state: 'connected' })).toBe(1);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('counts its own application only', async () => {
    const one = await startMetered();
    const two = await startMetered();
    await one.locks.using('a', () => {}, { label: 'of one' });
    expect((await one.scrape()).valuesOf('lock')).toEqual(new Set(['of one']));
    expect((await two.scrape()).valuesOf('lock')).toEqual(new Set());
  });

  it('keeps the counters of an application that has ended, the last release included, and nothing listens any more', async () => {
    const { app, locks, scrape: look } = await startMetered();
    const working = locks.using('a', () => nextTurn(), { label: 'last' });
    await app.close();
    await working;
    const seen = await look();
    expect(seen.of('hold_duration_seconds_count', { lock: 'last' })).toBe(1);
    expect(seen.of('held')).toBeUndefined();
    expect(seen.of('session_state')).toBeUndefined();
    await nextTurn();
    expect(Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
  });

  it('can be reset, and cleared', async () => {
    const { locks, registry, scrape: look } = await startMetered();
    await locks.using('a', () => {}, { label: 'one' });
    registry.resetMetrics();
    expect((await look()).of('hold_duration_seconds_count')).toBe(0);
    registry.clear();
    const { locks: others } = await startMetered({ registry });
    await others.using('a', () => {}, { label: 'two' });
    expect((await look()).valuesOf('lock')).toEqual(new Set(['two']));
  });

  it('may have a prefix, and refuses what cannot be', async () => {
    const registry = new Registry();
    const { locks } = await startMetered({ registry, options: { prefix: 'shop_', buckets: [0.1, 1] } });
    await locks.using('a', () => {}, { label: 'one' });
    expect(await registry.metrics()).toContain('shop_distributed_lock_hold_duration_seconds_bucket');
    await expect(startMetered({ registry, options: { prefix: 'shop_' } })).rejects.toThrow(/other buckets/);
    new Gauge({ name: 'distributed_lock_held', help: 'of another package', registers: [registry] });
    await expect(startMetered({ registry })).rejects.toThrow(/another metric "distributed_lock_held": set prefix/);
    expect(connectionOf(locks)).toBeDefined();
  });
});

describe('a service that a test has replaced', () => {
  it('is not measured, and the application starts', async () => {
    const registry = new Registry();
    const imports = [LockMetricsModule.forRoot({ registry })];
    const providers = [{ provide: LockService, useValue: { using: () => {} } }];
    await started(Test.createTestingModule({ imports, providers }).compile());
    expect((await scrape(registry)).values.size).toBe(0);
  });
});

describe('the options of LockMetricsModule', () => {
  it.each([
    [{ registry: {} }, /registry must be a Registry of prom-client/],
    [{ prefix: 'shop-' }, /prefix must be/],
    [{ buckets: [1, 1] }, /buckets must be/],
    [{ buckets: [] }, /buckets must be/],
    [{ maxNames: 0 }, /maxNames must be a whole number/],
    [{ nameOf: 'x' }, /nameOf must be a function/],
    [{ connections: [] }, /connections must be a list of names/],
    [{ connections: ['a', 'a'] }, /connections must be/],
    [{ labels: true }, /unknown field "labels"/],
  ])('name what is wrong: %j', (options, message) => {
    expect(() => LockMetricsModule.forRoot(options as LockMetricsOptions)).toThrow(LockConfigurationError);
    expect(() => LockMetricsModule.forRoot(options as LockMetricsOptions)).toThrow(message);
  });

  it('name a connection that is not there', async () => {
    const options = { connections: ['third'] };
    await expect(startMetered({ options })).rejects.toThrow(/LockMetricsModule: there is no connection "third"/);
  });

  it('are needed: the class itself is refused', async () => {
    const imports = [LockMetricsModule];
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow(/LockMetricsModule\.forRoot\(\)/);
  });
});
