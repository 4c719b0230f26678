import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { LockLostError, LockTimeoutError, LockUnavailableError } from 'nestjs-distributed-lock';
import { LockTesting, LockTestingModule } from 'nestjs-distributed-lock/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Ledger } from '../ledger.js';
import { OrdersService } from '../orders.service.js';

const order = { id: '42', cents: 1_000 };

let app: TestingModule;
let orders: OrdersService;
let bank: Ledger;
let locks: LockTesting;

beforeEach(async () => {
  bank = new Ledger();
  app = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ longestWaitMs: 20 })],
    providers: [OrdersService, { provide: 'BANK', useValue: bank }],
  }).compile();
  await app.init();
  orders = app.get(OrdersService);
  locks = app.get(LockTesting);
});

afterEach(() => app.close());

it('charges an order once, also when it comes twice at once', async () => {
  expect(await Promise.all([orders.place(order), orders.place(order)])).toEqual([true, false]);
  expect(bank.charges).toEqual(['42']);
});

it('charges nothing while another instance has the order', async () => {
  const other = locks.contend('order/42');
  await expect(orders.place(order)).rejects.toThrow(LockTimeoutError);
  expect(bank.charges).toEqual([]);

  await other.letGo();
  expect(await orders.place(order)).toBe(true);
});

it('charges nothing when the lease is lost while the bank thinks', async () => {
  bank.meanwhile = async () => locks.loseLease('order/42');
  await expect(orders.place(order)).rejects.toThrow(LockLostError);
  expect(bank.charges).toEqual([]);
});

it('charges nothing while no ZooKeeper answers', async () => {
  locks.unavailable();
  await expect(orders.place(order)).rejects.toThrow(LockUnavailableError);
  expect(bank.charges).toEqual([]);
});

it('locks the order, and gives it back', async () => {
  await orders.place(order);
  expect(locks.journal.where({ key: 'order/42' }).map(({ event, label }) => [event, label])).toEqual([
    ['asked', 'OrdersService.place'],
    ['acquired', 'OrdersService.place'],
    ['released', 'OrdersService.place'],
  ]);
});
