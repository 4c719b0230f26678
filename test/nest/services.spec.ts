import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import type { INestApplication, Type } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  CoordinationService,
  CronLock,
  CronRunsService,
  currentLease,
  currentRun,
  LeaderElectionService,
  LeaderOnly,
  LockConfigurationError,
  LockModule,
  LockService,
  OnDeposed,
  OnElected,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { SHARED_BY_NAME } from '../support/shared-by-name.js';
import type { ByName } from '../support/shared-by-name.js';
import { observed, ObservedBackend } from '../unit/service/observed.backend.js';
import { startApp, started } from './app.js';

/** The state that the applications share, like their ensemble. It does not end with one of them. */
class Servers extends ObservedBackend {
  override async close() {}
}

@Injectable()
class Chores {
  runs = 0;

  @Cron('0 0 1 1 *', { name: 'cleanup' })
  @CronLock()
  async cleanup() {
    this.runs++;
    return currentLease()?.key;
  }

  @LeaderOnly('poller')
  async poll(): Promise<string | undefined> {
    return currentLease()?.key;
  }
}

/** Starts applications of these services, all with the same names. */
function startServices(...services: readonly (string | readonly [string, Type[]])[]) {
  const servers = new Servers();
  const backend = { name: 'shared', create: () => servers };
  const start = (one: (typeof services)[number]) => {
    const [service, providers] = typeof one === 'string' ? [one, [Chores]] : one;
    return started(
      Test.createTestingModule({
        imports: [LockModule.forRoot({ service, backend, waitMs: 0, drainTimeoutMs: 0 }), ScheduleModule.forRoot()],
        providers,
      }).compile(),
    );
  };
  return Promise.all(services.map(start)) as Promise<[INestApplication, INestApplication]>;
}

const coordinationOf = (app: INestApplication) => app.get(CoordinationService);

const byName = (app: INestApplication): ByName => ({
  coordination: coordinationOf(app),
  elections: app.get(LeaderElectionService),
});

type Share = (one: INestApplication, other: INestApplication) => Promise<boolean>;

/** Uses one name in both applications. Resolves with whether it was the same object. */
const OWNED: readonly [string, Share][] = [
  [
    'a job',
    async (one, other) => {
      for (const app of [one, other]) await app.get(Chores).cleanup();
      return one.get(Chores).runs + other.get(Chores).runs === 1;
    },
  ],
  ...Object.entries(SHARED_BY_NAME).map(([what, share]): [string, Share] => [
    what,
    (one, other) => share(byName(one), byName(other)),
  ]),
];

const OF_ALL: readonly [string, Share][] = [
  [
    'a lock',
    async (one, other) => {
      await using _held = await one.get(LockService).acquire('order/42');
      return (await other.get(LockService).tryAcquire('order/42')) === null;
    },
  ],
  [
    'a semaphore',
    async (one, other) => {
      const semaphore = (app: INestApplication) => app.get(LockService).semaphore('pdf', { permits: 1 });
      await using _held = await semaphore(one).acquire();
      return (await semaphore(other).tryAcquire()) === null;
    },
  ],
];

describe('two services with the same names', () => {
  it.each(OWNED)('do not share %s', async (_what, share) => {
    expect(await share(...(await startServices('shop', 'billing')))).toBe(false);
  });

  it.each(OF_ALL)('share %s', async (_what, share) => {
    expect(await share(...(await startServices('shop', 'billing')))).toBe(true);
  });

  it('each run their job at every tick, and see only their own in the registry', async () => {
    const apps = await startServices('shop', 'billing');
    for (const app of apps) expect(await app.get(Chores).cleanup()).toBe('cron/cleanup');
    for (const app of apps) {
      const runs = app.get(CronRunsService);
      const [run] = await runs.list();
      expect([await runs.list(), run]).toEqual([
        [await runs.last('cleanup')],
        expect.objectContaining({ name: 'cleanup', key: 'cron/cleanup' }),
      ]);
    }
    const [shop, billing] = apps;
    expect(await shop.get(CronRunsService).forget('cleanup')).toBe(true);
    expect(await shop.get(CronRunsService).list()).toEqual([]);
    expect(await billing.get(CronRunsService).list()).toHaveLength(1);
  });

  it('have a leader each', async () => {
    const apps = await startServices('shop', 'billing');
    const leading = apps.map((app) => eventually(() => app.get(Chores).poll(), 'it leads'));
    expect(await Promise.all(leading)).toEqual(['poller', 'poller']);
  });

  it('share objects that are named by a path', async () => {
    const [shop, billing] = await startServices('shop', 'billing');
    await coordinationOf(shop).queue('/mail').put('a');
    expect(await coordinationOf(billing).queue('/mail').size()).toBe(1);
    await shop.get(LeaderElectionService).campaign('/poller');
    const standing = billing.get(LeaderElectionService).campaign('/poller', { waitMs: 0 });
    await expect(standing).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: '/poller' });
  });
});

describe('two applications of one service', () => {
  it.each([...OWNED, ...OF_ALL])('share %s', async (_what, share) => {
    expect(await share(...(await startServices('shop', 'shop')))).toBe(true);
  });
});

describe('a job', () => {
  it('neither excludes a lock on its key nor is excluded by it', async () => {
    const [app] = await startServices('shop');
    await using _held = await app.get(LockService).acquire('cron/cleanup');
    expect(await app.get(Chores).cleanup()).toBe('cron/cleanup');
  });

  it.each(['#jobs', '#jobs/shop/cron/cleanup'])('has a lock that cannot be requested by the key %s', async (key) => {
    const [app] = await startServices('shop');
    const locks = app.get(LockService);
    const message = `key must not begin with "#jobs", where the locks of jobs are; choose another one, got the string "${key}"`;
    for (const lock of [
      () => locks.mutex(key),
      () => locks.readWriteLock(key),
      () => locks.multi(['a', key]),
      () => locks.semaphore(key, { permits: 1 }),
    ]) {
      expect(lock).toThrow(LockConfigurationError);
      expect(lock).toThrow(message);
    }
  });
});

describe('the registry of runs', () => {
  it('does not find a job of another service by its name, when the key of that job is a path', async () => {
    class Pay {
      @CronLock({ key: '/pay/nightly', atLeastMs: 60_000 })
      async run() {
        return currentRun()?.key;
      }
    }
    const [shop, billing] = await startServices(['shop', []], ['billing', [Pay]]);
    expect(await billing.get(Pay).run()).toBe('/pay/nightly');
    const runs = shop.get(CronRunsService);
    expect([await runs.last('Pay.run'), await runs.forget('Pay.run')]).toEqual([undefined, false]);
    expect(await runs.last('/pay/nightly')).toMatchObject({ name: 'Pay.run' });
    expect(await billing.get(Pay).run()).toBeUndefined();
  });
});

/** Returns a class with one method that has the given decorators. */
function classWith(...decorators: readonly unknown[]): Type {
  class Reports {
    async run() {}
  }
  const own = Object.getOwnPropertyDescriptor(Reports.prototype, 'run')!;
  const decorated = Reflect.decorate(decorators as MethodDecorator[], Reports.prototype, 'run', own) as typeof own;
  Object.defineProperty(Reports.prototype, 'run', decorated);
  return Reports;
}

describe('without a service', () => {
  const HOW =
    'needs to know its service (connection "default"): set service, such as LockModule.forRoot({ service: \'shop\', … }), ' +
    'or return it from the factory of forRootAsync';
  const start = (provider: Type | undefined, module = LockModule.forRoot({ backend: observed() })) =>
    started(
      Test.createTestingModule({
        imports: [module, ScheduleModule.forRoot()],
        providers: provider ? [provider] : [],
      }).compile(),
    );
  const CRON = Cron('0 0 1 1 *', { name: 'yearly' });

  it.each([
    ['@CronLock', [CronLock(), CRON], 'the job "cron/yearly"'],
    ['@LeaderOnly', [LeaderOnly('poller')], 'the election "poller"'],
    ['@OnElected', [OnElected('poller')], 'the election "poller"'],
    ['@OnDeposed', [OnDeposed('poller')], 'the election "poller"'],
  ])('an application with %s does not start, and the error names the option', async (decorator, decorators, what) => {
    const starting = start(classWith(...decorators));
    await expect(starting).rejects.toThrow(LockConfigurationError);
    await expect(starting).rejects.toThrow(`${decorator} on Reports.run: ${what} ${HOW}`);
  });

  it('an application with a factory that names none does not start, and the error names the connection', async () => {
    const module = LockModule.forRootAsync({ name: 'second', useFactory: () => ({ backend: observed() }) });
    await expect(start(classWith(LeaderOnly('x', { connection: 'second' })), module)).rejects.toThrow(
      '@LeaderOnly on Reports.run: the election "x" needs to know its service (connection "second"): set service',
    );
  });

  it.each<[string, (app: INestApplication) => unknown, string]>([
    ['queue()', (app) => coordinationOf(app).queue('a'), 'the queue "a"'],
    ['barrier()', (app) => coordinationOf(app).barrier('a'), 'the barrier "a"'],
    ['doubleBarrier()', (app) => coordinationOf(app).doubleBarrier('a', { count: 1 }), 'the double barrier "a"'],
    ['counter()', (app) => coordinationOf(app).counter('a'), 'the counter "a"'],
    ['value()', (app) => coordinationOf(app).value('a', { initial: 1 }), 'the value "a"'],
    ['campaign()', (app) => app.get(LeaderElectionService).campaign('a'), 'the election "a"'],
    ['leader()', (app) => app.get(LeaderElectionService).leader('a'), 'the election "a"'],
    ['observe()', (app) => app.get(LeaderElectionService).observe('a'), 'the election "a"'],
    ['last()', (app) => app.get(CronRunsService).last('a'), 'the job "cron/a"'],
    ['forget()', (app) => app.get(CronRunsService).forget('a'), 'the job "cron/a"'],
    ['list()', (app) => app.get(CronRunsService).list(), 'CronRunsService'],
  ])('%s is refused before any request', async (_call, call, what) => {
    const definition = observed();
    const app = await start(undefined, LockModule.forRoot({ backend: definition }));
    const answer = (async () => call(app))();
    await expect(answer).rejects.toThrow(LockConfigurationError);
    await expect(answer).rejects.toThrow(`${what} ${HOW}`);
    expect(definition.last.requests).toEqual([]);
  });

  it('locks, semaphores, segments, stock and objects named by a path work', async () => {
    const job = classWith(CronLock({ key: '/shared/yearly' }), CRON);
    const app = await start(job, LockModule.forRoot({ backend: observed(), drainTimeoutMs: 0 }));
    const locks = app.get(LockService);
    for (const lock of [
      locks.mutex('a'),
      locks.semaphore('b', { permits: 1 }),
      locks.segmented('c', { segments: 2 }),
    ]) {
      expect(await lock.tryAcquire()).not.toBeNull();
    }
    const stock = locks.stock('d', { segments: 2 });
    await stock.restock(1);
    expect(await stock.deduct(1)).not.toBeNull();
    await coordinationOf(app).counter('/visits').add(1);
    await app.get(LeaderElectionService).campaign('/poller');
    await app.get(job).run();
    expect(await app.get(CronRunsService).last('/shared/yearly')).toMatchObject({ name: 'yearly', state: 'done' });
  });
});

describe('a service', () => {
  it.each(['my shop', 'eu/shop', '..', ''])('cannot be named %j', async (service) => {
    await expect(startApp({}, { service })).rejects.toThrow(
      "service must be a name of letters, digits, '.', '_' and '-'",
    );
  });
});

describe('a job that is named only by its class', () => {
  const jobOf = (className: string, ...decorators: readonly unknown[]) => {
    const made = classWith(...decorators);
    Object.defineProperty(made, 'name', { value: className });
    return made;
  };
  const unnamed = Cron('0 0 1 1 *');
  const start = (provider: Type) => startApp({ imports: [ScheduleModule.forRoot()], providers: [provider] });

  it.each(['a', '_', 'tE', ''])(
    'keeps the application from starting where a minifier may have named the class %j',
    async (name) => {
      const starting = start(jobOf(name, CronLock(), unnamed));
      await expect(starting).rejects.toThrow(LockConfigurationError);
      await expect(starting).rejects.toThrow(
        `@CronLock on ${name}.run: the job has no name but "${name}.run", and the class name looks minified: each build may ` +
          "have another. Name the job: @Cron(…, { name: 'cleanup' }), or @CronLock({ key: 'cleanup' })",
      );
    },
  );

  it.each<[string, Type]>([
    ['its schedule has a name', jobOf('a', CronLock(), Cron('0 0 1 1 *', { name: 'yearly' }))],
    ['it has a key', jobOf('a', CronLock({ key: 'yearly' }), unnamed)],
    ['the class has a longer name', jobOf('Job', CronLock(), unnamed)],
  ])('can run where %s', async (_why, provider) => {
    const { app } = await start(provider);
    await expect(app.get(provider).run()).resolves.toBeUndefined();
  });
});
