/** Composed decorators that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { applyDecorators, HttpCode, Post, SetMetadata, UseInterceptors } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { CronLock, DistributedLock, key, LeaderOnly, LockInterceptor, OnElected, ReadLock } from '../../lib/index.js';
import type { LockDecorator } from '../../lib/index.js';

interface Order {
  readonly id: string;
}

/** A decorator composed by `applyDecorators`, with one line in place of several. */
const OrderRoute = (path: string) =>
  applyDecorators(
    DistributedLock((order: Order) => key`order/${order.id}`, { waitMs: 2_000 }),
    Post(path),
    HttpCode(202),
  );

const Scheduled = () =>
  applyDecorators(CronLock(), LeaderOnly('poller'), OnElected('poller'), SetMetadata('job', true));

/** A decorator composed by a function. The compiler checks the method as it does under the decorator itself. */
const OrderLock = (waitMs = 2_000): LockDecorator<[order: Order], 'throw'> =>
  DistributedLock((order: Order) => key`order/${order.id}`, { waitMs });

const TenantLock = <C extends 'throw' | 'skip' = 'throw'>(options: { readonly onContention?: C } = {}) =>
  ReadLock((tenant: string) => key`tenant/${tenant}`, options);

const OrderInterceptor = () =>
  applyDecorators(
    UseInterceptors(LockInterceptor((context: ExecutionContext) => key`order/${String(context.getArgByIndex(0))}`)),
  );

export class Accepted {
  @OrderRoute(':id')
  async place(_order: Order) {}

  @Scheduled()
  async poll() {}

  @OrderLock()
  async cancel(_order: Order) {}

  @TenantLock({ onContention: 'skip' })
  async quote(_tenant: string): Promise<number | undefined> {
    return 1;
  }

  @OrderInterceptor()
  async intercepted() {}
}

export class Refused {
  // @ts-expect-error the key function takes an order
  @OrderLock()
  async wrongParameter(_id: number) {}

  // @ts-expect-error a lock takes time
  @OrderLock()
  synchronous(_order: Order) {}

  // @ts-expect-error a call that is skipped yields undefined
  @TenantLock({ onContention: 'skip' })
  async skipped(_tenant: string): Promise<number> {
    return 1;
  }
}

// @ts-expect-error a key is text
LockInterceptor((context) => context.getArgs().length);

// @ts-expect-error an unknown option
LockInterceptor('key', { ttl: 5 });
