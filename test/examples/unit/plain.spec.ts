import 'reflect-metadata';
import { LockTimeoutError } from 'nestjs-distributed-lock';
import { LockTesting } from 'nestjs-distributed-lock/testing';
import { expect, it } from 'vitest';
import { Ledger } from '../ledger.js';
import { OrdersService } from '../orders.service.js';

const order = { id: '42', cents: 1_000 };

it('charges an order once', async () => {
  const orders = LockTesting.bind(new OrdersService(new Ledger()));
  expect(await Promise.all([orders.place(order), orders.place(order)])).toEqual([true, false]);
});

it('charges nothing while another instance has the order', async () => {
  const bank = new Ledger();
  const locks = new LockTesting({ longestWaitMs: 20 });
  const orders = LockTesting.bind(new OrdersService(bank), locks);

  locks.contend('order/42');
  await expect(orders.place(order)).rejects.toThrow(LockTimeoutError);
  expect(bank.charges).toEqual([]);
});
