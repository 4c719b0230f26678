import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { currentLease, DistributedLock, key, LockService, LockTimeoutError } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper, LockTestingModule } from 'nestjs-distributed-lock/testing';

@Injectable()
class Orders {
  @DistributedLock((order: { id: string }) => key`order/${order.id}`, { waitMs: 1 })
  async place(order: { id: string }): Promise<string> {
    return `${order.id} ${currentLease()?.key}`;
  }
}

describe('the package in a generated application', () => {
  const start = () =>
    Test.createTestingModule({ imports: [LockTestingModule.forRoot()], providers: [Orders] }).compile();

  it('runs a decorated method under its lease', async () => {
    const app = await start();
    expect(await app.get(Orders).place({ id: '1' })).toBe('1 order/1');
    await app.close();
  });

  it('refuses while another caller holds the key, with an error that works with instanceof', async () => {
    const app = await start();
    const lease = await app.get(LockService).acquire('order/1');
    await expect(app.get(Orders).place({ id: '1' })).rejects.toBeInstanceOf(LockTimeoutError);
    await lease.release();
    await app.close();
  });

  it('starts an embedded server', async () => {
    const server = await EmbeddedZooKeeper.start();
    expect(server.connectString).toMatch(/:\d+$/);
    await server.stop();
  });
});
