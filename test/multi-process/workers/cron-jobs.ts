import { existsSync, writeFileSync, appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { CronLock } from '../../../lib/decorators/cron-lock.decorator.js';
import { DistributedLock } from '../../../lib/decorators/distributed-lock.decorator.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import { ordersOf } from './orders.js';
import type { CronEntry, CronOrders } from './orders.js';

const { journal, workMs, job } = ordersOf<CronOrders>();
const EVERY_SECOND = '* * * * * *';
const hung = `${journal}.hung`;

function note(entry: Omit<CronEntry, 'pid'>): void {
  appendFileSync(journal, `${JSON.stringify({ ...entry, pid: process.pid })}\n`);
}

/** The package's own guard: one run a tick. */
@Injectable()
class Guarded {
  @Cron(EVERY_SECOND, { name: 'guarded' })
  @CronLock()
  async run() {
    note({ what: 'done', tick: currentRun()?.tick?.getTime() ?? NaN, attempt: 1 });
    await pause(workMs);
  }
}

/** The planted defect: a lock that is only tried, without a record of past runs. */
@Injectable()
class TryOnly {
  @Cron(EVERY_SECOND)
  @DistributedLock('cron/try-only', { line: 'none', onContention: 'skip' })
  async run() {
    note({ what: 'done', tick: Math.floor(Date.now() / 1_000) * 1_000, attempt: 1 });
    await pause(workMs);
  }
}

/** The very first run hangs; the test kills the process that runs it. */
@Injectable()
class Hanging {
  @Cron('0 0 0 1 1 *', { name: 'hanging' })
  @CronLock({ onCrash: 'rerun' })
  async run() {
    const { tick, attempt = NaN } = currentRun() ?? {};
    const entry = { tick: tick?.getTime() ?? NaN, attempt };
    const hangs = !existsSync(hung);
    if (hangs) writeFileSync(hung, '');
    note({ what: 'begun', ...entry });
    await (hangs ? new Promise(() => {}) : pause(workMs));
    note({ what: 'done', ...entry });
  }
}

export const JOBS = { guarded: Guarded, tryOnly: TryOnly, hanging: Hanging }[job];
