import { Injectable, Module } from '@nestjs/common';
import {
  assertHeld,
  currentLease,
  DistributedLock,
  key,
  LockModule,
  LockService,
  LockTimeoutError,
  ReadLock,
  WriteLock,
  zookeeper,
} from 'nestjs-distributed-lock';
import type { Lease, LockModuleOptions } from 'nestjs-distributed-lock';
import { LockDashboardModule } from 'nestjs-distributed-lock/dashboard';
import type { LockDashboardOptions } from 'nestjs-distributed-lock/dashboard';
import { etcd } from 'nestjs-distributed-lock/etcd';
import type { EtcdOptions } from 'nestjs-distributed-lock/etcd';
import { redis } from 'nestjs-distributed-lock/redis';
import type { RedisOptions } from 'nestjs-distributed-lock/redis';
import { ZooKeeperServer } from 'nestjs-distributed-lock/testing';

@Injectable()
class Orders {
  constructor(private readonly locks: LockService) {}

  @DistributedLock((order: { id: string }) => key`order/${order.id}`, { waitMs: 2_000 })
  async place(order: { id: string }): Promise<bigint | undefined> {
    assertHeld();
    return currentLease()?.fencingToken;
  }

  @DistributedLock((from: string, to: string) => [key`account/${from}`, key`account/${to}`])
  async transfer(_from: string, _to: string): Promise<void> {}

  @ReadLock('prices')
  async quote(): Promise<number> {
    return 1;
  }

  @WriteLock('prices')
  async reprice(): Promise<void> {}

  async byHand(): Promise<number> {
    const lease: Lease | null = await this.locks.tryAcquire('orders');
    await lease?.release();
    try {
      return await this.locks.using('orders', async ({ signal }) => Number(signal.aborted), { waitMs: 10 });
    } catch (error) {
      if (error instanceof LockTimeoutError) return error.waitMs;
      throw error;
    }
  }
}

const options = (connectString: string): LockModuleOptions => ({ backend: zookeeper({ connectString }) });

@Module({ imports: [LockModule.forRoot(options('127.0.0.1:2181'))], providers: [Orders] })
export class AppModule {}

@Module({ imports: [LockModule.forRootAsync({ useFactory: async () => options('127.0.0.1:2181'), isGlobal: false })] })
export class AsyncAppModule {}

// The types of ioredis are not needed: the package is optional.
export const onRedis = (given: RedisOptions): LockModuleOptions => ({ backend: redis({ ...given, basePath: 'shop' }) });
export const dashboard = (given: LockDashboardOptions) =>
  LockDashboardModule.forRoot({ path: 'ops/locks', actions: ['revoke'], authorize: () => true, ...given });
export const onEtcd = (given: EtcdOptions): LockModuleOptions => ({ backend: etcd({ ...given, basePath: 'shop' }) });

export async function testSetup(): Promise<string> {
  const server: ZooKeeperServer & AsyncDisposable = await ZooKeeperServer.start({ tickTimeMs: 500 });
  return server.connectString;
}

// @ts-expect-error: the id may be missing
DistributedLock((order: { id?: string }) => key`order/${order.id}`);

// @ts-expect-error: a key is a string, several or a function, never a number
DistributedLock(42);

// A value from a ConfigService may be missing. A backend reports at the start which value it needs.
export const fromConfig = (get: (name: string) => string | undefined): LockModuleOptions => ({
  backend: zookeeper({ connectString: get('ZK'), basePath: get('ZK_BASE') }),
});
