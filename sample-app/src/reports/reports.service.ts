import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { CronLock, currentRun } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { settings } from '../settings.js';
import { REPORT_JOB, REPORT_TAKES_MS } from './report-run.js';
import type { ReportRun } from './report-run.js';

@Injectable()
export class ReportsService {
  constructor(private readonly files: ShopFiles) {}

  /**
   * Every instance's clock fires this once a second, up to 800 ms apart. Only the first instance to acquire the tick
   * runs it.
   */
  @Cron('* * * * * *', { name: REPORT_JOB, disabled: true })
  @CronLock()
  async report(): Promise<void> {
    await pause(REPORT_TAKES_MS);
    const tick = currentRun()?.tick?.getTime() ?? 0;
    await this.files.append('reports', { by: settings.instance, tick } satisfies ReportRun);
  }
}
