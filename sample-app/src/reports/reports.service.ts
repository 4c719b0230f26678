import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DistributedLock } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { settings } from '../settings.js';
import { REPORT_JOB, REPORT_TAKES_MS } from './report-run.js';
import type { ReportRun } from './report-run.js';

@Injectable()
export class ReportsService {
  constructor(private readonly files: ShopFiles) {}

  /**
   * Every instance's clock fires this each second. The first one there does it and the others go home: nobody stands
   * in line for a report that is being made.
   */
  @Cron('* * * * * *', { name: REPORT_JOB, disabled: true })
  @DistributedLock('report', { line: 'none', onContention: 'skip' })
  async report(): Promise<void> {
    const from = Date.now();
    await pause(REPORT_TAKES_MS);
    await this.files.append('reports', { by: settings.instance, from, to: Date.now() } satisfies ReportRun);
  }
}
