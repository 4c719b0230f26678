import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { expect, onTestFinished } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import { LockDashboardModule } from '../../lib/dashboard/index.js';
import type { KeyAnswer, StateAnswer } from '../../lib/dashboard/answers.js';
import { CronLock, currentLease, DistributedLock, key, LeaderOnly, LockModule } from '../../lib/index.js';
import type { LockBackendDefinition } from '../../lib/index.js';
import { LockMetricsModule } from '../../lib/metrics/index.js';
import type { FaultProxy } from '../../lib/testing/index.js';
import { METRICS, prometheusNameOf } from '../../lib/telemetry/metric-table.js';
import { commandIo } from '../unit/command/command-io.js';

@Injectable()
class Shop {
  readonly reports: unknown[] = [];

  /** Hangs until it is asked to release the key. */
  @DistributedLock((id: number) => key`order/${id}`, { onLost: 'ignore' })
  async hang(_id: number) {
    const { signal } = currentLease()!;
    if (!signal.aborted) await once(signal, 'abort');
  }

  @DistributedLock((id: number) => key`order/${id}`)
  async place(id: number) {
    return id;
  }

  @LeaderOnly('poller')
  async poll(): Promise<boolean | undefined> {
    return true;
  }

  @Cron('* * * * * *', { name: 'report' })
  @CronLock()
  async report() {
    this.reports.push(currentLease());
  }
}

/** The surroundings of the tour. */
export interface TourGround {
  /** A backend that reaches the servers directly, and one that reaches them through the proxy. */
  readonly backends: readonly [LockBackendDefinition, LockBackendDefinition];
  readonly proxy: FaultProxy;
  /** The options of a command for these servers. */
  readonly options: readonly string[];
}

interface Instance {
  readonly app: INestApplication;
  readonly shop: Shop;
  /** Asks the page of the instance. */
  readonly ask: <T>(path: string) => Promise<T>;
  readonly registry: Registry;
}

async function startInstance(backend: LockBackendDefinition): Promise<Instance> {
  const registry = new Registry();
  const imports = [
    LockModule.forRoot({ service: 'shop', backend, waitMs: 60_000, drainTimeoutMs: 0 }),
    LockDashboardModule.forRoot(),
    LockMetricsModule.forRoot({ registry }),
    ScheduleModule.forRoot(),
  ];
  const compiled = await Test.createTestingModule({ imports, providers: [Shop] }).compile();
  const app = compiled.createNestApplication({ logger: false });
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const ask = async <T>(path: string) =>
    (await (await fetch(`http://127.0.0.1:${port}/locks/api/${path}`)).json()) as T;
  return { app, shop: app.get(Shop), ask, registry };
}

/** The value of a metric with these labels, or `undefined`. */
async function metric({ registry }: Instance, name: string, labels: object = {}): Promise<number | undefined> {
  const found = await registry.getSingleMetric(`distributed_lock_${name}`)?.get();
  return found?.values.find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    ?.value;
}

/** Runs a command, and returns what it has printed as JSON. */
async function command(ground: TourGround, ...words: string[]): Promise<unknown> {
  const io = commandIo();
  const code = await runCommand([...words, ...ground.options, '--json'], io);
  const { said, complained } = io.written();
  expect([code, complained]).toEqual([0, '']);
  return JSON.parse(said);
}

/**
 * An operator's tour: a holder hangs, a link breaks, a session ends. Each question is answered by the page, by the metrics
 * and by a command alone, and the key is taken from the hung holder.
 */
export async function tour(ground: TourGround): Promise<void> {
  const [one, other] = [await startInstance(ground.backends[0]), await startInstance(ground.backends[1])];
  await one.ask('state');
  await other.ask('state');
  const hung = one.shop.hang(1);
  const holds = (answer: StateAnswer) => answer.keys.find((shown) => shown.key === 'order/1');
  const seen = async () => holds(await other.ask<StateAnswer>('state'));
  await expect.poll(seen).toMatchObject({ holding: 1, holders: [{ owner: { label: 'Shop.hang' } }] });
  const waiting = other.shop.place(1);

  // The holder, since when it holds, and the waiting contenders.
  await expect
    .poll(seen)
    .toMatchObject({ waiting: 1, waiters: [{ owner: { label: 'Shop.place', pid: process.pid } }] });
  expect((await seen())?.heldSince).toBeLessThanOrEqual(Date.now() + 60_000);
  const shown = await other.ask<KeyAnswer>('key?id=order%2F1');
  expect(shown.contenders.map(({ state, owner }) => [state, owner.label])).toEqual([
    ['held', 'Shop.hang'],
    ['waiting', 'Shop.place'],
  ]);
  expect(await command(ground, 'who', 'order/1')).toMatchObject([
    { state: 'held', owner: { label: 'Shop.hang', pid: process.pid }, since: expect.stringMatching(/^\d{4}-/) },
    { state: 'waiting', owner: { label: 'Shop.place' } },
  ]);
  expect(await metric(one, 'oldest_hold_seconds', { lock: 'Shop.hang' })).toBeGreaterThan(0);
  expect(await metric(other, 'waiting', { lock: 'Shop.place' })).toBe(1);
  expect(await metric(other, 'oldest_wait_seconds', { lock: 'Shop.place' })).toBeGreaterThan(0);

  // Which instance leads?
  const leading = async () => (await Promise.all([one, other].map((each) => each.shop.poll()))).filter(Boolean).length;
  await expect.poll(leading).toBe(1);
  const leads = () => Promise.all([one, other].map((each) => metric(each, 'leader', { election: 'poller' })));
  await expect.poll(leads).toContain(1);
  expect((await leads()).filter((value) => value === 1)).toHaveLength(1);
  const election = { key: 'poller', service: 'shop', holding: 1 };
  await expect.poll(async () => (await other.ask<StateAnswer>('state')).elections).toMatchObject([election]);
  expect(await command(ground, 'leaders')).toMatchObject([election]);

  // When did the job run last?
  const done = { name: 'report', state: 'done' };
  await expect.poll(async () => (await one.ask<StateAnswer>('state?view=cron')).runs).toMatchObject([done]);
  await expect.poll(() => command(ground, 'cron', '--service', 'shop')).toMatchObject([done]);
  const succeeded = () =>
    Promise.all(
      [one, other].map((each) => metric(each, 'cron_last_success_timestamp_seconds', { cron_job: 'report' })),
    );
  await expect.poll(async () => (await succeeded()).some((at) => (at ?? 0) > 0)).toBe(true);

  // The hung holder is asked to release the key, and the next caller has it.
  await command(ground, 'revoke', 'order/1', '--grace', '20s', '--yes');
  await hung;
  expect(await waiting).toBe(1);
  await expect.poll(async () => (await seen())?.holding ?? 0).toBe(0);
  expect(await metric(one, 'held', { lock: 'Shop.hang' })).toBe(0);
  expect(await metric(other, 'waiting', { lock: 'Shop.place' })).toBe(0);

  // Was a lease lost? The link of one instance breaks for longer than its session. It holds nothing but this key then.
  await other.app.get(SchedulerRegistry).getCronJob('report').stop();
  await expect.poll(async () => (await metric(other, 'held', { lock: 'report' })) ?? 0).toBe(0);
  const cut = other.shop.hang(2);
  await expect.poll(() => metric(other, 'held', { lock: 'Shop.hang' })).toBe(1);
  ground.proxy.refuse();
  ground.proxy.disconnect();
  await cut;
  await expect.poll(async () => (await other.ask<StateAnswer>('state')).process).toMatchObject({ state: 'lost' });
  expect((await other.ask<StateAnswer>('state')).process.lost).toBeGreaterThan(0);
  expect(await metric(other, 'session_state', { state: 'lost' })).toBe(1);
  expect(await metric(other, 'leases_lost_total', { lock: 'Shop.hang', reason: 'lost' })).toBe(1);
  expect(await metric(one, 'session_state', { state: 'connected' })).toBe(1);
  ground.proxy.heal();
  const healed = { state: 'connected' };
  await expect.poll(async () => (await other.ask<StateAnswer>('state')).process).toMatchObject(healed);
  const loss = { service: 'shop', pid: process.pid, named: [{ key: 'order/2', label: 'Shop.hang' }], leases: 1 };
  await expect.poll(() => command(ground, 'losses')).toMatchObject([loss]);
  expect((await one.ask<StateAnswer>('state?view=instance')).losses).toMatchObject([{ keys: ['order/2'] }]);

  // Each metric that panels and rules name is in the scrape.
  const scrape = await other.registry.metrics();
  const missing = Object.values(METRICS).filter((row) => !scrape.includes(`# TYPE ${prometheusNameOf(row)} `));
  expect(missing).toEqual([]);
}
