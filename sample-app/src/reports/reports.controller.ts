import { Controller, Delete, Put } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { REPORT_JOB } from './report-run.js';

/** Switches the job on and off, so that the sample can show it separately. */
@Controller('reports/schedule')
export class ReportsController {
  constructor(private readonly schedule: SchedulerRegistry) {}

  @Put()
  start(): void {
    this.schedule.getCronJob(REPORT_JOB).start();
  }

  @Delete()
  async stop(): Promise<void> {
    await this.schedule.getCronJob(REPORT_JOB).stop();
  }
}
