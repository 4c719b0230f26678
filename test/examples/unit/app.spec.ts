import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { LockTesting } from 'nestjs-distributed-lock/testing';
import { expect, it } from 'vitest';
import { AppModule } from '../app.module.js';
import { OrdersService } from '../orders.service.js';

it('starts as a whole with no ZooKeeper there', async () => {
  const locks = new LockTesting();
  const builder = Test.createTestingModule({ imports: [AppModule] });
  const app = await locks.replaceIn(builder).compile();
  await app.init();

  expect(await app.get(OrdersService).place({ id: '42', cents: 1_000 })).toBe(true);
  expect(locks.journal.where({ event: 'acquired' })).toHaveLength(1);

  await app.close();
});
