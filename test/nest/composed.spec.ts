import 'reflect-metadata';
import { applyDecorators, Controller, HttpCode, Injectable, Post, SetMetadata, UseFilters } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  currentLease,
  currentTerm,
  DistributedLock,
  key,
  LeaderOnly,
  LockExceptionFilter,
  LockInterceptor,
  LockService,
} from '../../lib/index.js';
import { startApp } from './app.js';
import { serve } from './platforms.js';

interface Order {
  readonly id: string;
}

const log: string[] = [];

/** A wrapper such as `@Transactional()`. */
const Transactional = (): MethodDecorator => (_target, _name, descriptor: TypedPropertyDescriptor<any>) => {
  const original = descriptor.value;
  descriptor.value = async function (this: unknown, ...args: unknown[]) {
    log.push(`begin ${currentLease()?.key}`);
    const result: unknown = await original.apply(this, args);
    log.push(`commit ${currentLease()?.key}`);
    return result;
  };
};

const OrderLock = () => DistributedLock((order: Order) => key`order/${order.id}`, { waitMs: 0 });

/** `applyDecorators` applies its list from first to last, so the last one is outermost. */
const OrderTransaction = () => applyDecorators(Transactional(), SetMetadata('kind', 'order'), OrderLock());

const OrderRoute = (path: string) =>
  applyDecorators(Post(path), HttpCode(202), UseFilters(LockExceptionFilter), DistributedLock('orders', { waitMs: 0 }));

const EveryLeaderTick = () => applyDecorators(LeaderOnly('poller'), Interval(5));

@Injectable()
class Orders {
  readonly polled = deferred<boolean>();

  @OrderTransaction()
  async place(order: Order) {
    return order.id;
  }

  @OrderLock()
  async cancel(_order: Order) {
    return currentLease()?.key;
  }

  @EveryLeaderTick()
  async poll() {
    this.polled.resolve(currentTerm() !== undefined);
  }
}

@Controller()
class OrdersController {
  @OrderRoute('orders')
  async place() {
    return { key: currentLease()?.key };
  }
}

describe('lock decorators in a composed decorator', () => {
  it('lock, keep the metadata, and wrap the decorators before them in the list', async () => {
    const { app, backend } = await startApp({ imports: [ScheduleModule.forRoot()], providers: [Orders] });
    const orders = app.get(Orders);
    log.length = 0;
    expect(await orders.place({ id: '42' })).toBe('42');
    expect(log).toEqual(['begin order/42', 'commit order/42']);
    expect(new Reflector().get('kind', orders.place)).toBe('order');
    expect(await orders.cancel({ id: '7' })).toBe('order/7');
    expect(await orders.polled.promise).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('work on a route', async () => {
    const { app, url } = await serve({ controllers: [OrdersController] });
    const answer = await fetch(`${url}/orders`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([202, { key: 'orders' }]);
    await using _held = await app.get(LockService).acquire('orders');
    expect((await fetch(`${url}/orders`, { method: 'POST' })).status).toBe(423);
  });

  it('report a mistake with the name of the method', () => {
    const Broken = () => applyDecorators(DistributedLock('a//b'));
    const load = () => {
      class Broke {
        @Broken()
        async place() {}
      }
      return Broke;
    };
    expect(load).toThrow('@DistributedLock on Broke.place');
    expect(() => LockInterceptor('a//b')).toThrow('LockInterceptor: the key');
  });
});
