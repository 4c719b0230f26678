import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { assertHeld, LockLostError, LockService, LockUnavailableError } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper, ZooKeeperFaultProxy } from 'nestjs-distributed-lock/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AppModule } from '../app.module.js';
import { Ledger } from '../ledger.js';
import { OrdersService } from '../orders.service.js';

const order = { id: '42', cents: 1_000 };

let zookeeper: EmbeddedZooKeeper;
// Between the application and the server: a network that does what a test says.
let network: ZooKeeperFaultProxy;
let bank: Ledger;
let app: TestingModule;

beforeEach(async () => {
  zookeeper = await EmbeddedZooKeeper.start();
  network = await ZooKeeperFaultProxy.open(zookeeper.connectString);
  process.env['ZOOKEEPER_CONNECT'] = network.connectString;
  bank = new Ledger();
  const builder = Test.createTestingModule({ imports: [AppModule] });
  app = await builder.overrideProvider('BANK').useValue(bank).compile();
  await app.init();
});

afterEach(async () => {
  network.heal();
  await app.close();
  await network.close();
  await zookeeper.stop();
});

const lost = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

it('an expired session charges nothing, and the next call works', async () => {
  bank.meanwhile = async () => {
    const { signal } = assertHeld();
    await Promise.all([lost(signal), network.expireSessions()]);
  };
  await expect(app.get(OrdersService).place(order)).rejects.toThrow(LockLostError);
  expect(bank.charges).toEqual([]);

  bank.meanwhile = async () => {};
  expect(await app.get(OrdersService).place(order)).toBe(true);
});

// The session's whole timeout passes, and runners may have less patience than that.
it('a cut-off instance knows by its own clock that it has lost the lease', { timeout: 20_000 }, async () => {
  const lease = await app.get(LockService).acquire('report');
  network.blackHole();
  await lost(lease.signal);
  expect(lease.isHeld()).toBe(false);
  expect(lease.signal.reason).toBeInstanceOf(LockLostError);
});

it('a connection that breaks for a moment loses nothing', async () => {
  await using lease = await app.get(LockService).acquire('report');
  network.disconnect();
  expect(await app.get(OrdersService).place(order)).toBe(true);
  expect(lease.state).toBe('held');
});

it('refuses while no server answers', async () => {
  network.refuse();
  network.disconnect();
  await expect(app.get(LockService).acquire('report', { waitMs: 100 })).rejects.toThrow(LockUnavailableError);
});
