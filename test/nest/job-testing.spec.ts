import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { CronLock, currentLease } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import type { LockTestingModuleOptions } from '../../lib/testing/index.js';
import { started } from './app.js';

@Injectable()
class Reports {
  @CronLock({ atLeastMs: 60_000 })
  async daily(): Promise<string | undefined> {
    const lease = currentLease();
    this.entered.resolve();
    await this.end;
    return lease?.state;
  }

  readonly entered = deferred();
  end: Promise<unknown> = Promise.resolve();
}

async function startReports(options: LockTestingModuleOptions = {}) {
  const imports = [LockTestingModule.forRoot(options)];
  const app = await started(Test.createTestingModule({ imports, providers: [Reports] }).compile());
  return { reports: app.get(Reports), testing: app.get(LockTesting) };
}

describe('@CronLock under LockTestingModule', () => {
  it('runs, and the journal contains it under the key of the job', async () => {
    const { reports, testing } = await startReports();
    expect(await reports.daily()).toBe('held');
    const rows = testing.journal.where({ key: 'cron/Reports.daily' });
    expect(rows.map(({ event }) => event)).toEqual(['asked', 'acquired', 'released']);
  });

  it('belongs to the service "test", even when the options name none', async () => {
    const { reports } = await startReports({ service: undefined });
    expect(await reports.daily()).toBe('held');
  });

  it('may have a path as its key, and does not run while another instance runs it', async () => {
    @Injectable()
    class Shared {
      @CronLock({ key: '/shared/report', atLeastMs: 60_000 })
      async run(): Promise<string | undefined> {
        return 'ran';
      }
    }
    const imports = [LockTestingModule.forRoot()];
    const app = await started(Test.createTestingModule({ imports, providers: [Shared] }).compile());
    const testing = app.get(LockTesting);
    await testing.contend('/shared/report', 'job').held;
    const running = app.get(Shared).run();
    await testing.journal.seen({ event: 'timed out', key: '/shared/report' });
    await testing.letGo('/shared/report');
    expect(await running).toBe('ran');
  });

  it('does not run while another instance runs it, until the test releases that one', async () => {
    const { reports, testing } = await startReports();
    const other = testing.contend('cron/Reports.daily', 'job');
    await other.held;
    const firing = reports.daily();
    await testing.journal.seen({ event: 'timed out', key: 'cron/Reports.daily' });
    await testing.letGo('cron/Reports.daily');
    expect(await firing).toBe('held');
  });

  it('runs while another caller holds a lock of the same key', async () => {
    const { reports, testing } = await startReports();
    testing.contend('cron/Reports.daily');
    expect(await reports.daily()).toBe('held');
  });

  it('waits for other holders with mode contended', async () => {
    const { reports, testing } = await startReports({ mode: 'contended', keys: ['cron/Reports.daily'] });
    const firing = reports.daily();
    await testing.journal.seen({ event: 'timed out', key: 'cron/Reports.daily' });
    await testing.letGo('cron/Reports.daily');
    expect(await firing).toBe('held');
  });

  it('loses the lease that the test makes lost, by the key of the job', async () => {
    const { reports, testing } = await startReports();
    const mayEnd = deferred();
    reports.end = mayEnd.promise;
    const running = reports.daily();
    await reports.entered.promise;
    testing.loseLease('cron/Reports.daily');
    mayEnd.resolve();
    await expect(running).rejects.toMatchObject({ code: 'LOCK_LOST', key: 'cron/Reports.daily' });
  });
});
