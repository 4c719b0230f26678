import 'reflect-metadata';
import { Cron, Interval } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { lastValueFrom, Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  CronLock,
  currentLease,
  currentRun,
  currentSegment,
  currentTerm,
  DistributedLock,
  LeaderOnly,
  LockConfigurationError,
  LockLostError,
  LockShutdownError,
  LockTimeoutError,
  OnElected,
  ReadLock,
  SegmentLock,
  Semaphore,
} from '../../lib/index.js';
import type { LockService } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
import { started } from './app.js';

// alone: it counts the timers of its process.

class Orders {
  constructor(private readonly bank: { charge(): Promise<void> }) {}

  @DistributedLock((id: string) => `order/${id}`, { waitMs: 20 })
  async place(id: string) {
    await this.bank.charge();
    return [id, currentLease()?.key];
  }

  @DistributedLock(['a', 'b'])
  async both() {
    return currentLease()?.key;
  }

  @ReadLock('price')
  async quote() {
    return currentLease()?.mode;
  }

  @Semaphore('pdf', { permits: 2 })
  async render() {
    return currentLease()?.mode;
  }

  @SegmentLock({ key: 'stock', segments: 4 })
  async take() {
    return currentSegment()?.segments;
  }

  @DistributedLock('stream')
  watch(): Observable<string | undefined> {
    return of(currentLease()?.key);
  }
}

class Copying {
  @DistributedLock('one', { connection: 'default' })
  async one() {
    return currentLease()?.key;
  }

  @DistributedLock('other', { connection: 'reports' })
  async other() {
    return currentLease()?.key;
  }
}

class Jobs {
  ticks: (Date | undefined)[] = [];

  @Cron('0 0 1 1 *')
  @CronLock()
  async yearly(): Promise<string | undefined> {
    this.ticks.push(currentRun()?.tick);
    return 'ran';
  }

  @Interval(60_000)
  @CronLock()
  async sweep(): Promise<string | undefined> {
    return 'ran';
  }
}

class Poller {
  elections = 0;

  @OnElected('poller')
  elected() {
    this.elections++;
  }

  @LeaderOnly('poller')
  async poll() {
    return currentTerm();
  }
}

const bank = { charge: async () => {} };

describe('LockTesting.bind', () => {
  it('runs the methods of an instance made with new under their locks', async () => {
    const orders: Orders = LockTesting.bind(new Orders(bank));
    expect(await orders.place('42')).toEqual(['42', 'order/42']);
    expect([await orders.both(), await orders.quote()]).toEqual(['a, b', 'read']);
    expect([await orders.render(), await orders.take()]).toEqual(['permit', 4]);
    expect(await lastValueFrom(orders.watch())).toBe('stream');
  });

  it('runs calls of one key one at a time', async () => {
    let [inside, most] = [0, 0];
    const charge = async () => {
      most = Math.max(most, ++inside);
      await Promise.resolve();
      inside--;
    };
    const orders = LockTesting.bind(new Orders({ charge }));
    await Promise.all(['1', '1', '1'].map((id) => orders.place(id)));
    expect(most).toBe(1);
  });

  it('applies what the test does to the locks', async () => {
    const locks = new LockTesting({ longestWaitMs: 20 });
    const orders = LockTesting.bind(new Orders({ charge: async () => locks.loseLease('order/42') }), locks);
    const other = locks.contend('order/42');
    await expect(orders.place('42')).rejects.toBeInstanceOf(LockTimeoutError);
    await other.letGo();
    await expect(orders.place('42')).rejects.toBeInstanceOf(LockLostError);
    const events = locks.journal.where({ label: 'Orders.place' }).map(({ event }) => event);
    expect(events).toEqual(['asked', 'timed out', 'asked', 'acquired', 'lost']);
  });

  it('shares one LockTesting between instances, and with code that calls the locks', async () => {
    const locks = new LockTesting({ longestWaitMs: 20 });
    const [one, other] = [LockTesting.bind(new Orders(bank), locks), LockTesting.bind(new Orders(bank), locks)];
    const service: LockService = locks.locks;
    const held = await service.acquire('order/42');
    for (const orders of [one, other]) await expect(orders.place('42')).rejects.toBeInstanceOf(LockTimeoutError);
    await held.release();
    expect(await Promise.all([one.place('42'), other.place('42')])).toHaveLength(2);
  });

  it('accepts the LockTesting of an application', async () => {
    const app = await started(Test.createTestingModule({ imports: [LockTestingModule.forRoot()] }).compile());
    const locks = app.get(LockTesting);
    const orders = LockTesting.bind(new Orders(bank), locks);
    await orders.place('42');
    expect(locks.journal.where({ key: 'order/42', event: 'acquired' })).toHaveLength(1);
  });

  it('accepts one LockTesting per connection; an unnamed connection has its own', async () => {
    const reports = new LockTesting({ longestWaitMs: 20 });
    const copying = LockTesting.bind(new Copying(), { reports });
    reports.contend('other');
    reports.contend('one');
    expect(await copying.one()).toBe('one');
    await expect(copying.other()).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it.each([
    ['nothing', undefined, {}, 'takes an instance whose class has methods with lock decorators'],
    ['a class', Orders, {}, 'takes an instance whose class has methods with lock decorators'],
    ['an instance without locks', new Date(), {}, 'takes an instance whose class has methods with lock decorators'],
    ['one LockTesting for two connections', new Copying(), new LockTesting(), 'name them, as in { default: new Lock'],
    ['an unknown connection', new Copying(), { report: new LockTesting() }, 'no method uses the connection "report"'],
  ])('refuses %s', (_what, instance, locks, message) => {
    const bind = () => LockTesting.bind(instance as object, locks);
    expect(bind).toThrow(LockConfigurationError);
    expect(bind).toThrow(message);
  });

  it('runs each call of a @Cron job, and an @Interval job at most once per interval', async () => {
    const jobs = LockTesting.bind(new Jobs());
    expect([await jobs.yearly(), await jobs.yearly(), await jobs.yearly()]).toEqual(['ran', 'ran', 'ran']);
    expect(new Set(jobs.ticks.map(Number)).size).toBe(3);
    expect([await jobs.sweep(), await jobs.sweep()]).toEqual(['ran', undefined]);
  });

  it('skips a job that another instance runs', async () => {
    const locks = new LockTesting();
    const jobs = LockTesting.bind(new Jobs(), locks);
    await locks.contend('cron/Jobs.sweep', 'job').held;
    expect(await jobs.sweep()).toBeUndefined();
  });

  it('campaigns for methods with @LeaderOnly, and resigns when it is closed', async () => {
    const locks = new LockTesting();
    const poller = LockTesting.bind(new Poller(), locks);
    const term = await eventually(() => poller.poll(), 'it leads');
    expect([term.isHeld(), poller.elections]).toEqual([true, 1]);
    await locks.close();
    expect(term.isHeld()).toBe(false);
    expect(await poller.poll()).toBeUndefined();
  });

  it('rejects new and waiting calls once it is closed', async () => {
    const locks = new LockTesting();
    const orders = LockTesting.bind(new Orders(bank), locks);
    locks.contend('a');
    const waiting = orders.both();
    const refused = expect(waiting).rejects.toBeInstanceOf(LockShutdownError);
    await locks.close();
    await refused;
    await expect(orders.quote()).rejects.toBeInstanceOf(LockShutdownError);
  });

  it('leaves no timer behind that keeps the process running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const orders = LockTesting.bind(new Orders(bank));
    await orders.place('42');
    expect(timers()).toBe(before);
  });
});
