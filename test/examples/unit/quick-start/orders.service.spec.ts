import { Test } from '@nestjs/testing';
import { LockTesting, LockTestingModule } from 'nestjs-distributed-lock/testing';
import { expect, it } from 'vitest'; // Jest: without this line
import { OrdersService } from './orders.service.js';

it('pays an order under its lock', async () => {
  const app = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()], // locks in memory: no ZooKeeper is needed
    providers: [OrdersService],
  }).compile();
  await app.init();

  expect(await app.get(OrdersService).pay('42')).toMatchObject({ id: '42' });

  const { journal } = app.get(LockTesting);
  expect(journal.where({ event: 'acquired', key: 'order/42' })).toHaveLength(1);
  await app.close();
});
