import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { Observable, of } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  CronLock,
  DistributedLock,
  LockConfigurationError,
  LockModule,
  LockService,
  ReadLock,
  SegmentLock,
} from '../../lib/index.js';
import type { Lock } from '../../lib/index.js';
import { memory } from '../../lib/memory/memory.backend.js';
import { started } from './app.js';

@Injectable()
class Orders {
  runs = 0;

  @DistributedLock('one')
  async place() {
    return ++this.runs;
  }

  @DistributedLock(['one', 'other'])
  async placeAll() {
    return ++this.runs;
  }

  @ReadLock('one')
  async quote() {
    return ++this.runs;
  }

  @SegmentLock({ key: 'stock', segments: 2 })
  async take() {
    return ++this.runs;
  }

  @DistributedLock('one', { onContention: 'skip' })
  async skippable(): Promise<number | undefined> {
    return ++this.runs;
  }

  @DistributedLock('one')
  watch(): Observable<number> {
    return of(++this.runs);
  }
}

const METHODS = ['place', 'placeAll', 'quote', 'take', 'skippable'] as const;

async function withStandIn(locks: unknown): Promise<Orders> {
  const providers = [Orders, { provide: LockService, useValue: locks }];
  return (await started(Test.createTestingModule({ providers }).compile())).get(Orders);
}

const lockWith = (using: unknown) => {
  const lock = { using };
  return { mutex: () => lock, multi: () => lock, segmented: () => lock, readWriteLock: () => ({ read: lock }) };
};

/** An automatic mock as `jest` and `vitest` create it from a class: every method exists and returns nothing. */
const autoMock = () => {
  const names = Object.getOwnPropertyNames(LockService.prototype).filter((name) => name !== 'constructor');
  return Object.fromEntries(names.map((name) => [name, vi.fn()]));
};

describe.each([
  ['an empty object', () => ({}), /has no (mutex|multi|readWriteLock|segmented)\(\)/],
  ['an automatic mock', autoMock, /that returns no lock/],
  ['one whose locks are empty', () => lockWith(undefined), /.*/],
  ['one whose using() returns nothing', () => lockWith(vi.fn()), /does not call what it is given/],
  ['one whose using() resolves with nothing', () => lockWith(async () => {}), /does not call what it is given/],
])('a LockService that is %s', (_what, standIn, message) => {
  it.each(METHODS)('neither runs %s() nor skips it silently', async (method) => {
    const orders = await withStandIn(standIn());
    const call = expect(orders[method]()).rejects;
    await call.toThrow(message);
    await expect(orders[method]()).rejects.toThrow(`on Orders.${method}`);
    await expect(orders[method]()).rejects.toThrow(/did not run.*LockTestingModule\.forRoot\(\)/s);
    await expect(orders[method]()).rejects.toBeInstanceOf(LockConfigurationError);
    expect(orders.runs).toBe(0);
  });

  it('errors the stream of a method that returns one', async () => {
    const orders = await withStandIn(standIn());
    const error = await new Promise((resolve) => orders.watch().subscribe({ error: resolve }));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(orders.runs).toBe(0);
  });
});

it('a hand-made LockService that calls the work is accepted', async () => {
  const orders = await withStandIn(lockWith((work: () => unknown) => work()));
  for (const [place, method] of METHODS.entries()) expect(await orders[method]()).toBe(place + 1);
});

it('with a spy on the real service that returns no lock, the method still runs', async () => {
  const imports = [LockModule.forRoot({ backend: memory() })];
  const app = await started(Test.createTestingModule({ imports, providers: [Orders] }).compile());
  vi.spyOn(app.get(LockService), 'mutex').mockReturnValue(undefined as unknown as Lock);
  await expect(app.get(Orders).place()).rejects.toThrow(/did not run.*no using\(\)/s);
});

it('a job with a mocked LockService does not run, and reports it', async () => {
  @Injectable()
  class Reports {
    @CronLock()
    @Cron('0 0 1 1 *', { name: 'yearly' })
    async report() {
      throw new Error('has run');
    }
  }
  const providers = [Reports, { provide: LockService, useValue: autoMock() }];
  const app = await started(Test.createTestingModule({ imports: [ScheduleModule.forRoot()], providers }).compile());
  await expect(app.get(Reports).report()).rejects.toThrow(/@CronLock on Reports.report.*did not run/);
});

it('a stand-in may replace the service beside LockModule', async () => {
  const using = vi.fn((work: (lease: object) => unknown) => work({}));
  const testing = Test.createTestingModule({
    imports: [LockModule.forRoot({ service: 'test', backend: memory() })],
    providers: [Orders],
  });
  const replaced = testing.overrideProvider(LockService).useValue({ mutex: () => ({ using }) });
  const orders = (await started(replaced.compile())).get(Orders);
  await expect(orders.place()).resolves.toBe(1);
  expect(using).toHaveBeenCalledOnce();
});
