import { createRequire } from 'node:module';
import type { CronTime, CronTimeClass } from '../../../lib/schedule/schedule.js';

interface CronJobClass {
  from(options: object): { readonly cronTime: CronTime; stop(): unknown };
}

/** The `cron` package that `@nestjs/schedule` runs on, wherever the package manager has put it. */
const schedule = createRequire(import.meta.url).resolve('@nestjs/schedule');
export const cron: { readonly CronTime: CronTimeClass; readonly CronJob: CronJobClass } =
  createRequire(schedule)('cron');
