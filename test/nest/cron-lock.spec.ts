import 'reflect-metadata';
import { Injectable, Module, Scope } from '@nestjs/common';
import type { ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  CronLock,
  CronRunsService,
  currentLease,
  currentRun,
  getCronRunsToken,
  InjectCronRuns,
  LockConfigurationError,
  LockModule,
} from '../../lib/index.js';
import type { JobEvent } from '../../lib/index.js';
import { ObservedBackend, observed } from '../unit/service/observed.backend.js';
import { startApp, started } from './app.js';

const EVERY_SECOND = '* * * * * *';
const HOURLY = '0 0 * * * *';

const imports = [ScheduleModule.forRoot()];
const start = (metadata: ModuleMetadata) =>
  startApp({ ...metadata, imports: [...imports, ...(metadata.imports ?? [])] });

/** The state that several applications share, like their servers. It does not end with one of them. */
class Servers extends ObservedBackend {
  override async close() {}
}

class PickyServers extends ObservedBackend {
  override identify(key: string): string {
    if (key.includes('//')) throw new LockConfigurationError(`bad key "${key}"`);
    return key;
  }
}

/** Starts one application of a cluster. */
function join(servers: ObservedBackend, metadata: ModuleMetadata) {
  const backend = { name: 'shared', create: () => servers };
  const locks = LockModule.forRoot({ service: 'test', backend, drainTimeoutMs: 60_000 });
  return started(Test.createTestingModule({ ...metadata, imports: [locks, ...imports] }).compile());
}

const eventsOf = (runs: CronRunsService, type: JobEvent['type'], count = 1) =>
  firstValueFrom(
    runs.events.pipe(
      filter((event) => event.type === type),
      take(count),
      toArray(),
    ),
  );

@Injectable()
class EveryKind {
  readonly ran = new Map(
    ['above', 'below', 'interval', 'intervalBelow', 'timeout', 'timeoutBelow'].map((job) => [job, deferred<unknown>()]),
  );

  @CronLock()
  @Cron(EVERY_SECOND, { name: 'above' })
  async above() {
    this.note('above');
  }

  @Cron(EVERY_SECOND)
  @CronLock()
  async below() {
    this.note('below');
  }

  @CronLock()
  @Interval('interval', 5)
  async interval() {
    this.note('interval');
  }

  @Interval(5)
  @CronLock()
  async intervalBelow() {
    this.note('intervalBelow');
  }

  @CronLock({ key: 'once' })
  @Timeout('timeout', 1)
  async timeout() {
    this.note('timeout');
  }

  @Timeout(1)
  @CronLock()
  async timeoutBelow() {
    this.note('timeoutBelow');
  }

  private note(job: string): void {
    this.ran.get(job)?.resolve([currentLease()?.key, currentRun()?.name, currentRun()?.tick !== undefined]);
  }
}

describe('@CronLock', () => {
  it('works above and below the scheduling decorator, and runs on its schedule', async () => {
    const { app } = await start({ providers: [EveryKind] });
    expect(await Promise.all([...app.get(EveryKind).ran.values()].map(({ promise }) => promise))).toEqual([
      ['cron/above', 'above', true],
      ['cron/EveryKind.below', 'EveryKind.below', true],
      ['cron/interval', 'interval', false],
      ['cron/EveryKind.intervalBelow', 'EveryKind.intervalBelow', false],
      ['once', 'timeout', false],
      ['cron/EveryKind.timeoutBelow', 'EveryKind.timeoutBelow', false],
    ]);
    expect([...app.get(SchedulerRegistry).getCronJobs().keys()]).toContain('above');
  });

  it('runs a tick on one of two applications, and both report it', async () => {
    const ran = vi.fn<(tick: Date | undefined) => void>();
    @Injectable()
    class Reports {
      @Cron(HOURLY, { name: 'hourly' })
      @CronLock()
      async hourly() {
        ran(currentRun()?.tick);
      }
    }
    const servers = new Servers();
    const apps = [
      await join(servers, { providers: [Reports] }),
      await join(servers, { providers: [Reports] }),
    ] as const;
    for (const app of apps) await app.get(SchedulerRegistry).getCronJob('hourly').fireOnTick();
    await vi.waitUntil(async () => (await apps[1].get(CronRunsService).last('hourly'))?.state === 'done', 30_000);
    expect(await apps[1].get(Reports).hourly()).toBeUndefined();
    const [tick] = ran.mock.calls[0]!;
    expect([tick?.getMinutes(), tick?.getSeconds(), ran.mock.calls.length]).toEqual([0, 0, 1]);
    const told = await Promise.all(apps.map((app) => app.get(CronRunsService).last('hourly')));
    expect(told[0]).toEqual(told[1]);
    expect(told[0]).toMatchObject({
      name: 'hourly',
      key: 'cron/hourly',
      tick,
      state: 'done',
      runner: { pid: process.pid },
    });
  });

  it("hands the method's own error to the scheduler, which logs it", async () => {
    const error = new TypeError('its own');
    @Injectable()
    class Reports {
      @Cron(HOURLY, { name: 'fails' })
      @CronLock()
      async fails() {
        throw error;
      }
    }
    const { app } = await start({ providers: [Reports] });
    const logged = deferred<unknown>();
    const quiet = () => {};
    app.useLogger({ log: quiet, warn: quiet, error: (message) => logged.resolve(message) });
    onTestFinished(() => app.useLogger(false));
    await app.get(SchedulerRegistry).getCronJob('fails').fireOnTick();
    expect(await logged.promise).toBe(error);
    expect(await app.get(CronRunsService).last('fails')).toMatchObject({
      state: 'failed',
      error: 'TypeError: its own',
    });
  });

  it('follows the time zone of a job, and a changed time', async () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    onTestFinished(() => void vi.unstubAllEnvs());
    @Injectable()
    class Reports {
      @Cron('0 0 8 * * *', { name: 'daily', timeZone: 'Asia/Kolkata' })
      @CronLock()
      async daily() {
        return currentRun()?.tick?.toISOString().slice(11);
      }

      @Cron('0 0 8 * * *', { utcOffset: -90 })
      @CronLock()
      async byOffset() {
        return currentRun()?.tick?.toISOString().slice(11);
      }

      // A job without a name makes its own ticks; cron takes an empty zone for UTC, whatever that of the machine is.
      @Cron('0 0 8 * * *', { timeZone: '' })
      @CronLock()
      async byEmptyZone() {
        return currentRun()?.tick?.toISOString().slice(11);
      }
    }
    const { app } = await start({ providers: [Reports] });
    const reports = app.get(Reports);
    expect(await reports.daily()).toBe('02:30:00.000Z');
    expect(await reports.byOffset()).toBe('09:30:00.000Z');
    expect(await reports.byEmptyZone()).toBe('08:00:00.000Z');
    const job = app.get(SchedulerRegistry).getCronJob('daily');
    const CronTime = job.cronTime.constructor as new (source: string, zone: string) => typeof job.cronTime;
    await app.get(CronRunsService).forget('daily');
    job.setTime(new CronTime('0 0 9 * * *', 'UTC'));
    expect(await reports.daily()).toBe('09:00:00.000Z');
  });

  it('finishes at start the run that another application did not finish', async () => {
    const finished = deferred<unknown>();
    @Injectable()
    class Reports {
      @Cron(HOURLY)
      @CronLock({ onCrash: 'rerun' })
      async hourly() {
        finished.resolve([currentRun()?.tick?.toISOString(), currentRun()?.attempt]);
      }
    }
    const servers = new Servers();
    const tick = '2026-01-01T00:00:00.000Z';
    const marker = {
      name: 'Reports.hourly',
      key: 'cron/Reports.hourly',
      tick,
      state: 'running',
      runId: 'x',
      attempt: 1,
    };
    const value = JSON.stringify({ ...marker, runner: { host: 'gone', pid: 1 } });
    await servers.records.write([{ name: 'cron/test/cron%2FReports.hourly', value }]);
    await join(servers, { providers: [Reports] });
    expect(await finished.promise).toEqual([tick, 2]);
  });
});

describe('two jobs with one key', () => {
  @Injectable()
  class One {
    @Cron(HOURLY, { name: 'report' })
    @CronLock()
    async run() {}
  }

  @Injectable()
  class Other {
    @Interval('report', 1_000)
    @CronLock()
    async walk() {}
  }

  it('keep the application from starting; the error names both', async () => {
    const starting = start({ providers: [One, Other] });
    await expect(starting).rejects.toThrow(LockConfigurationError);
    await expect(starting).rejects.toThrow(
      /@CronLock on One\.run and @CronLock on Other\.walk have the same key "cron\/report" \(connection "default"\)/,
    );
  });

  it('are allowed on two connections, or when one has another key', async () => {
    @Injectable()
    class Elsewhere {
      @Timeout('report', 60_000)
      @CronLock({ connection: 'elsewhere' })
      async run() {}

      @Interval(60_000)
      @CronLock({ key: 'cron/Elsewhere' })
      async walk() {}
    }
    const elsewhere = LockModule.forRoot({ name: 'elsewhere', service: 'test', backend: observed() });
    const { app } = await start({ imports: [elsewhere], providers: [One, Elsewhere] });
    await app.get(Elsewhere).run();
    const runs = app.get<CronRunsService>(getCronRunsToken('elsewhere'));
    expect(await runs.last('report')).toMatchObject({ state: 'done' });
    expect(await app.get(CronRunsService).list()).toEqual([]);
  });

  it('are allowed when two classes inherit one method, or one class is provided twice', async () => {
    abstract class Base {
      @Timeout(60_000)
      @CronLock()
      async run() {
        return currentLease()?.key;
      }
    }
    @Injectable()
    class Daily extends Base {}
    @Injectable()
    class Hourly extends Base {}
    @Module({ providers: [Daily] })
    class Again {}
    const { app } = await start({
      imports: [Again],
      providers: [Daily, Hourly, { provide: 'made', useFactory: () => new Daily() }],
    });
    expect(await app.get(Daily, { strict: false }).run()).toBe('cron/Daily.run');
    expect(await app.get(Hourly).run()).toBe('cron/Hourly.run');
    expect(await app.get<Daily>('made').run()).toBe('cron/Daily.run');
  });
});

describe('a name that is not a valid key', () => {
  it('keeps the application from starting', async () => {
    @Injectable()
    class Reports {
      @Cron(HOURLY, { name: 'daily//report' })
      @CronLock()
      async run() {}
    }
    const servers = new PickyServers();
    await expect(join(servers, { providers: [Reports] })).rejects.toThrow('bad key "cron/daily//report"');
    expect(servers.closes).toBe(1);
  });
});

describe('a method without a schedule', () => {
  it('keeps the application from starting', async () => {
    @Injectable()
    class Reports {
      @CronLock()
      async byHand() {}
    }
    await expect(start({ providers: [Reports] })).rejects.toThrow(
      /^@CronLock on Reports\.byHand: the method has no @Cron, @Interval or @Timeout/,
    );
  });

  it('is allowed with atLeastMs', async () => {
    @Injectable()
    class Reports {
      @CronLock({ atLeastMs: 60_000 })
      async byHand(): Promise<string | void> {
        return 'ran';
      }
    }
    const { app } = await start({ providers: [Reports] });
    expect(await app.get(Reports).byHand()).toBe('ran');
    expect(await app.get(Reports).byHand()).toBeUndefined();
  });

  it('is allowed to override a scheduled method', async () => {
    class Base {
      @Timeout(60_000)
      @CronLock()
      async run() {
        return currentRun()?.name;
      }
    }
    @Injectable()
    class Sub extends Base {
      override async run() {
        return super.run();
      }
    }
    const { app } = await start({ providers: [Sub] });
    expect(await app.get(Sub).run()).toBe('Sub.run');
  });

  it('is allowed to override a job and to call it: both are one run', async () => {
    class Base {
      @Timeout('nightly', 60_000)
      @CronLock()
      async run(): Promise<string | undefined> {
        return currentLease()?.key;
      }
    }
    @Injectable()
    class Sub extends Base {
      @Timeout('nightly', 60_000)
      @CronLock()
      override async run() {
        return super.run();
      }
    }
    const { app } = await start({ providers: [Sub] });
    expect(await app.get(Sub).run()).toBe('cron/nightly');
  });

  it('does not run without a scheduler that knows its ticks', async () => {
    @Injectable()
    class Reports {
      @Cron(HOURLY)
      @CronLock()
      async hourly() {}
    }
    const { app } = await startApp({ providers: [Reports] });
    await expect(app.get(Reports).hourly()).rejects.toThrow(/import ScheduleModule\.forRoot\(\)/);
  });

  it('does not run on an instance that Nest does not know', async () => {
    await expect(new EveryKind().timeout()).rejects.toThrow(/^@CronLock on EveryKind\.timeout has no LockService/);
  });
});

describe('the origin of an instance', () => {
  it('does not matter: request scope, another name, a Proxy around everything', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @Timeout(60_000)
      @CronLock()
      async run() {
        return currentLease()?.key;
      }
    }
    @Injectable()
    class Reader {
      constructor(@InjectCronRuns() readonly runs: CronRunsService) {}
    }
    @Module({
      imports: [LockModule.forRoot({ service: 'test', backend: observed() }), ...imports],
      providers: [PerRequest, Reader, EveryKind],
    })
    class AppModule {}
    const isWrapped = (instance: unknown) =>
      typeof instance === 'object' && instance !== null && !(instance instanceof Map);
    const instanceDecorator = (instance: unknown) =>
      isWrapped(instance) ? new Proxy(instance as object, {}) : instance;
    const app = await NestFactory.create(AppModule, { logger: false, instrument: { instanceDecorator } });
    onTestFinished(() => app.close());
    await app.init();
    expect(await (await app.resolve(PerRequest)).run()).toBe('cron/PerRequest.run');
    await app.get(EveryKind).ran.get('below')?.promise;
    await vi.waitUntil(async () => (await app.get(Reader).runs.last('EveryKind.below'))?.state === 'done', 30_000);
  });
});

describe('app.close()', () => {
  it('lets a run finish, starts no other, and reports both', async () => {
    const entered = deferred();
    const mayEnd = deferred();
    @Injectable()
    class Reports {
      @Cron(EVERY_SECOND, { name: 'long' })
      @CronLock()
      async long() {
        entered.resolve();
        await mayEnd.promise;
      }
    }
    const servers = new Servers();
    const app = await join(servers, { providers: [Reports] });
    const runs = app.get(CronRunsService);
    const finished = eventsOf(runs, 'finished');
    const skipped = eventsOf(runs, 'skipped');
    await entered.promise;
    const closing = app.close();
    await vi.waitUntil(() => app.get(SchedulerRegistry).getCronJobs().size === 0, 30_000);
    expect(await app.get(Reports).long()).toBeUndefined();
    expect(await skipped).toMatchObject([{ reason: 'shutdown' }]);
    expect(servers.leaseOn('#jobs/test/cron/long')?.isHeld()).toBe(true);
    mayEnd.resolve();
    await closing;
    expect(await finished).toMatchObject([{ run: { name: 'long', state: 'done' } }]);
    expect(servers.busyKeys).toEqual([]);
  });
});

describe('a method that cannot be a job', () => {
  const decorated = (name: string, target: object, method: string) => () => {
    const descriptor = Object.getOwnPropertyDescriptor(target, method)!;
    (CronLock() as (...args: unknown[]) => void)(target, method, descriptor);
    return name;
  };

  it('is refused when the class is loaded', () => {
    class Wrong {
      static async all() {}
      get got() {
        return 1;
      }
      async *stream() {
        yield 1;
      }
    }
    expect(decorated('static', Wrong, 'all')).toThrow(/@CronLock on Wrong\.all cannot lock a static method/);
    expect(decorated('accessor', Wrong.prototype, 'got')).toThrow(/cannot lock an accessor/);
    expect(decorated('generator', Wrong.prototype, 'stream')).toThrow(/a generator does nothing/);
  });
});
