import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { LockService } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper } from 'nestjs-distributed-lock/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AppModule } from '../app.module.js';
import { Ledger } from '../ledger.js';
import { OrdersService } from '../orders.service.js';

// They share the bank, as instances in production share a database.
const bank = new Ledger();
let zookeeper: EmbeddedZooKeeper;
let instances: TestingModule[];

async function start(): Promise<TestingModule> {
  const builder = Test.createTestingModule({ imports: [AppModule] });
  const instance = await builder.overrideProvider('BANK').useValue(bank).compile();
  return instance.init();
}

beforeAll(async () => {
  zookeeper = await EmbeddedZooKeeper.start();
  // The server of a zookeeper() without a connectString.
  process.env['ZOOKEEPER_CONNECT'] = zookeeper.connectString;
  instances = await Promise.all([start(), start(), start()]);
});

afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
  await zookeeper.stop();
});

it('three instances charge each order once', async () => {
  const orders = Array.from({ length: 20 }, (_, place) => ({ id: String(place), cents: 100 }));
  await Promise.all(orders.flatMap((order) => instances.map((app) => app.get(OrdersService).place(order))));
  expect([...bank.charges].sort()).toEqual(orders.map(({ id }) => id).sort());
});

it('one instance sees what another holds', async () => {
  const [one, other] = instances.map((app) => app.get(LockService));
  await using _lease = await one!.acquire('report', { label: 'nightly' });
  expect(await other!.tryAcquire('report')).toBeNull();
  expect(await other!.contenders('report')).toMatchObject([
    { state: 'held', isOwn: false, owner: { label: 'nightly' } },
  ]);
});
