import type { INestApplication } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LockModule, LockService } from '../../lib/index.js';
import { LockDashboardModule } from '../../lib/dashboard/index.js';
import { recordLoss } from '../support/recorded-loss.js';
import { ROOT } from '../support/repository-root.js';
import { scene } from './scene-backend.js';
import type { SceneBackend, Scripted, ScriptedKey } from './scene-backend.js';

/** The compiled files of the page. */
export const ASSETS = join(ROOT, 'build/page/page');

const METHODS = [
  'Orders.place',
  'Orders.cancel',
  'Stock.deduct',
  'Transfers.move',
  'Invoices.render',
  'Prices.reprice',
];
const HOSTS = ['shop-7f9c-x2k4', 'shop-7f9c-m8qp', 'shop-7f9c-t5vd', 'billing-54d8-kk2z'];

/** An application with a lively cluster around it, for pictures and for a look at the page. */
export async function openShop(port = 0): Promise<{ app: INestApplication; url: string; end: () => Promise<void> }> {
  const definition = scene('zookeeper');

  @Module({
    imports: [
      LockModule.forRoot({ service: 'shop', backend: definition, waitMs: 30_000 }),
      LockDashboardModule.forRoot({ authorize: () => true, actions: ['revoke', 'resign', 'forget'], assets: ASSETS }),
    ],
  })
  class ShopModule {}

  const app = await NestFactory.create(ShopModule, { logger: ['error'] });
  await app.listen(port, '127.0.0.1');
  const locks = app.get(LockService);
  await fill(definition.last, locks);
  const ending = new AbortController();
  const impatient = timeOut(locks, ending.signal);
  const traffic = drive(locks, ending.signal);
  const { port: own } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    url: `http://127.0.0.1:${own}/locks`,
    end: async () => {
      ending.abort();
      await Promise.all([traffic, impatient]);
      await app.close();
    },
  };
}

async function fill(backend: SceneBackend, locks: LockService): Promise<void> {
  const line = (count: number, label: string, first: number): Scripted[] =>
    Array.from({ length: count }, (_, at) => ({ label, ...process(at), ageMs: first - (first / (count + 1)) * at }));
  const at = Date.now();
  const hold = (label: string, host: number, ageMs: number) => ({ label, ...process(host), ageMs });
  const set = (key: string, holders: Scripted[], waiters: Scripted[] = []) =>
    backend.cluster.set(key, { holders: aging(holders, at), waiters: aging(waiters, at) });
  set('order/48121', [hold('Orders.place', 1, 312_400)], line(9, 'Orders.place', 290_000));
  backend.cluster.set('account/DE-2204', turns('Transfers.move', 4, [2_300, 4_100, 1_400, 6_200, 3_100]));
  backend.cluster.set('stock/sku-4711/3', turns('Stock.deduct', 2, [900, 1_300, 700]));
  backend.cluster.set('invoice/2026-11-0093', turns('Invoices.render', 0, [12_000, 9_000]));
  backend.cluster.set('order/48130', turns('Orders.place', 0, [1_100, 2_600]));
  backend.cluster.set('order/48131', turns('Orders.cancel', 0, [1_900, 800, 1_200]));
  set('prices', [hold('Prices.quote', 0, 900), hold('Prices.quote', 1, 700), hold('Prices.quote', 2, 400)].map(read), [
    { ...hold('Prices.reprice', 3, 350), mode: 'write' },
  ]);
  set('import/catalogue', [hold('Catalogue.import', 3, 95_000)]);
  backend.cluster.set('pdf', {
    kind: 'semaphore',
    holders: aging(
      [0, 1, 2, 3].map((one) => ({ ...hold('Invoices.render', one, 1_000 + 700 * one), mode: 'permit' as const })),
      at,
    ),
    waiters: aging([{ ...hold('Invoices.render', 2, 1_200), mode: 'permit' as const }], at),
  });
  backend.cluster.set('shop/poller', {
    kind: 'election',
    holders: aging([{ ...hold('Poller.poll', 1, 8_040_000) }], at),
    waiters: aging([hold('Poller.poll', 0, 8_000_000), hold('Poller.poll', 2, 7_000_000)], at),
  });
  backend.cluster.set('billing/closer', {
    kind: 'election',
    holders: aging([{ ...hold('Ledger.close', 3, 402_000) }], at),
  });
  const named = [{ key: 'invoice/2026-11-0088', label: 'Invoices.render' }, { key: 'ledger/2026-11' }];
  await recordLoss(backend, { ...process(3), leases: 2, named });
  backend.queues.push({ key: 'shop/mails', items: 18 }, { key: 'shop/parcels', items: 3 });
  for (const [key, units, sold] of [
    ['coupons/black-friday', 300, 211],
    ['tickets/row-a', 64, 64],
    ['sku-4711', 1_200, 340],
  ] as const) {
    const stock = locks.stock(key, { segments: key === 'sku-4711' ? 16 : 8 });
    await stock.restock(units);
    for (let left = sold; left > 0; left -= 7) await stock.deduct(Math.min(7, left), { routeBy: String(left % 23) });
  }
}

/** A key that processes have in turns, each for its time. */
function turns(label: string, waiting: number, times: readonly number[]): ScriptedKey {
  const round = times.reduce((sum, time) => sum + time, 0);
  const began = Date.now() - 7 * round;
  const turn = () => {
    let [at, from] = [0, began + Math.floor((Date.now() - began) / round) * round];
    while (from + times[at]! <= Date.now()) from += times[at++]!;
    return { at: at + Math.floor((from - began) / round) * times.length, from };
  };
  const one = (at: number, from: number) => ({ label, ...process(at * 3 + (at % 2)), from });
  return {
    get holders() {
      const { at, from } = turn();
      return [one(at, from)];
    },
    get waiters() {
      const { at, from } = turn();
      return Array.from({ length: waiting }, (_, behind) => {
        return one(at + behind + 1, from - times[(at + behind) % times.length]! / (behind + 2));
      });
    },
  };
}

const process = (at: number) => ({ host: HOSTS[at % HOSTS.length]!, pid: 21 + (at % 3) });
const read = (one: Scripted): Scripted => ({ ...one, mode: 'read' });

/** Scripted ages grow with time. */
function aging(all: readonly Scripted[], at: number): Scripted[] {
  return all.map(({ ageMs = 0, ...one }) => ({ ...one, from: at - ageMs }));
}

/** A wait that runs out, so that there is an event to be seen. The page shows those since it was opened, so it comes late. */
async function timeOut(locks: LockService, signal: AbortSignal): Promise<void> {
  const key = 'report/monthly';
  const lease = await locks.acquire(key, { label: 'Reports.monthly' });
  await pause(15_000, undefined, { signal }).catch(() => {});
  await locks.tryAcquire(key, { waitMs: 2_000, label: 'Reports.daily', signal }).catch(() => null);
  await lease.release();
}

/** Traffic of this process, with waits and hand-overs that the charts show. Its pauses are the load of a real one. */
async function drive(locks: LockService, signal: AbortSignal): Promise<void> {
  const callers = Array.from({ length: 6 }, async (_, caller) => {
    for (let turn = caller; !signal.aborted; turn++) {
      const label = METHODS[turn % METHODS.length]!;
      const busy = 0.5 + 0.5 * Math.sin(Date.now() / 9_000);
      await locks.using(`order/4815${turn % 4}`, () => pause<void>(20 + 180 * busy * ((turn * 7) % 5)), { label });
      await pause(60 + 140 * (1 - busy));
    }
  });
  await Promise.all(callers);
}
