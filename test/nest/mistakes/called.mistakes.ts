import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import { onTestFinished } from 'vitest';
import {
  assertHeld,
  CronLock,
  DistributedLock,
  key,
  LockModule,
  LockService,
  ReadLock,
  WriteLock,
} from '../../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../../lib/testing/index.js';
import { deferred } from '../../../lib/async/deferred.js';
import { memory } from '../../../lib/memory/memory.backend.js';
import { boot, refusalOf, unchecked, warningsOf } from './mistake.js';
import type { Mistakes } from './mistake.js';

@Injectable()
class Orders {
  readonly ended = deferred();
  late: Promise<unknown> | undefined;

  @DistributedLock('order')
  async place() {}

  @DistributedLock((id: string) => `order/${id}`)
  async placeOne(_id: string) {}

  @DistributedLock((id: unknown) => key`order/${unchecked<string>(id)}`)
  async placeTagged(_id: unknown) {}

  @DistributedLock((id: number) => unchecked<string>(id))
  async placeNumber(_id: number) {}

  @DistributedLock((order: { readonly id: string }) => order.id.trim())
  async placeOrder(_order: { readonly id: string }) {}

  @DistributedLock('order')
  async goOn() {
    this.late = this.ended.promise.then(() => assertHeld());
    this.late.catch(() => {});
  }

  @ReadLock('price')
  async quote() {
    await this.change();
  }

  @WriteLock('price')
  async change() {}

  // A compiler that checks types refuses this.
  @(DistributedLock('sync') as MethodDecorator)
  count() {
    return 1;
  }

  @(DistributedLock('stream') as MethodDecorator)
  stream() {
    return of(1);
  }
}

@Injectable()
class Bare {
  // The output for `stream(): Observable<number>` of a compiler that emits no metadata.
  static {
    const descriptor = { value: () => of(1), writable: true, configurable: true };
    unchecked<(...args: unknown[]) => void>(DistributedLock('stream'))(Bare.prototype, 'stream', descriptor);
    Object.defineProperty(Bare.prototype, 'stream', descriptor);
  }

  declare readonly stream: () => unknown;
}

@Injectable()
class Jobs {
  @(CronLock({ atLeastMs: 1 }) as MethodDecorator)
  clean() {}
}

const app = (options: object = {}) =>
  boot({
    imports: [LockModule.forRoot({ service: 'shop', backend: memory(), waitMs: 30, drainTimeoutMs: 0, ...options })],
    providers: [Orders, Bare, Jobs],
  });

const calling = (work: (orders: Orders, locks: LockService) => unknown) => async () => {
  const made = await app();
  return refusalOf(() => work(made.get(Orders), made.get(LockService)));
};

const warnedOf = (work: (orders: Orders, bare: Bare, jobs: Jobs) => unknown) => async () => {
  const made = await app();
  return warningsOf(() => work(made.get(Orders), made.get(Bare), made.get(Jobs)));
};

/** Returns the rejection of a call, or what it has logged. */
export const CALLED: Mistakes = {
  'locked-by-another': calling(async (orders, locks) => {
    await using _held = await locks.acquire('order');
    await orders.place();
  }),
  'opposite-order': calling(async (_, locks) => {
    await using _held = await locks.acquire('b');
    await locks.using('a', () => locks.using('b', () => {}));
  }),
  'made-with-new': () => refusalOf(() => new Orders().place()),
  'called-without-instance': calling(({ place }) => place()),
  'bad-key': calling((orders) => orders.placeOne('a/../b')),
  'missing-value': async () => {
    const made = await app();
    return warningsOf(() => made.get(Orders).placeOne(unchecked(undefined)));
  },
  'missing-value-tagged': calling((orders) => orders.placeTagged(undefined)),
  'key-is-a-number': calling((orders) => orders.placeNumber(5)),
  'key-function-throws': calling((orders) => orders.placeOrder(unchecked({}))),
  'not-awaited': calling(async (orders) => {
    await orders.goOn();
    orders.ended.resolve();
    await orders.late;
  }),
  'assert-held-outside': () => refusalOf(() => assertHeld()),
  'acquired-twice': calling((_, locks) => locks.using('order', () => locks.acquire('order'))),
  'reader-to-writer': calling((orders) => orders.quote()),
  'no-work': calling((_, locks) => locks.using('order', unchecked(undefined))),
  'returned-no-promise': warnedOf((orders) => orders.count()),
  'returned-an-observable': warnedOf((orders) => orders.stream()),
  'no-metadata': warnedOf((_, bare) => bare.stream()),
  'job-returned-no-promise': warnedOf((_, __, jobs) => jobs.clean()),
  'after-close': async () => {
    const made = await app();
    await made.close();
    return refusalOf(() => made.get(LockService).acquire('order'));
  },
  'servers-out-of-reach': async () => {
    const testing = await boot({ imports: [LockTestingModule.forRoot()], providers: [Orders] });
    testing.get(LockTesting).unavailable();
    return refusalOf(() => testing.get(Orders).place());
  },
  'json-of-a-token': async () => {
    const made = await app();
    const lease = await made.get(LockService).acquire('order');
    onTestFinished(() => lease.release());
    return refusalOf(() => JSON.stringify({ token: lease.fencingToken }));
  },
};
