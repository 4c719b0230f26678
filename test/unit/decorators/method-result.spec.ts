import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { lastValueFrom, Observable, of } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CronLock, DistributedLock } from '../../../lib/index.js';
import { LockTesting } from '../../../lib/testing/index.js';

/** Decorates a method that the type check would refuse. */
const Unchecked = (key: string) => DistributedLock(key) as MethodDecorator;

class Orders {
  @DistributedLock('async')
  async place() {
    return 1;
  }

  @DistributedLock('generator')
  async *all() {
    yield 1;
  }

  @DistributedLock('observable')
  watch(): Observable<number> {
    return of(1);
  }

  @DistributedLock('promise of a stream')
  async stream() {
    return of(1);
  }

  @DistributedLock('thenable')
  deferred(): Promise<number> {
    return Promise.resolve(1);
  }

  @CronLock({ atLeastMs: 1 })
  async job() {}

  @Unchecked('failing')
  fail() {
    throw new Error('its own');
  }

  @Unchecked('sync')
  sync() {
    return 1;
  }

  @Unchecked('iterable')
  iterable() {
    return this.all();
  }
}

function start() {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  return { orders: LockTesting.bind(new Orders()), warn };
}

const CALLS: Readonly<Record<string, (orders: Orders) => unknown>> = {
  'an async method': (orders) => orders.place(),
  'an async generator': (orders) => orders.all().next(),
  'a method that is declared to return an Observable': (orders) => lastValueFrom(orders.watch()),
  'an async method that resolves to a stream': async (orders) => lastValueFrom(await orders.stream()),
  'a method that returns a promise': (orders) => orders.deferred(),
  'a job that is async': (orders) => orders.job(),
  'a method that throws': (orders) => (orders.fail() as unknown as Promise<never>).catch(() => {}),
};

describe('no warning is logged for a locked method that is', () => {
  it.each(Object.entries(CALLS))('%s', async (_what, call) => {
    const { orders, warn } = start();
    await call(orders);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a locked method that returned no promise', () => {
  it('is warned about once, and its result reaches the caller', async () => {
    const { orders, warn } = start();
    expect([await orders.sync(), await orders.sync()]).toEqual([1, 1]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^@DistributedLock on Orders\.sync: .*async$/));
  });

  it('is advised to be a generator when it returned an iterable', async () => {
    const { orders, warn } = start();
    const stream = (await orders.iterable()) as AsyncGenerator<number>;
    expect(await stream.next()).toEqual({ value: 1, done: false });
    await stream.return(undefined);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('write async *'));
  });
});
