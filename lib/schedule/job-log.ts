import { Logger } from '@nestjs/common';
import type { JobEvent, SkippedEvent } from './job-event.js';
import type { JobRun } from './job-run.js';

const logger = new Logger('CronLock');

/** Says what nobody else does: that a call was skipped, and what somebody must look at. Runs speak for themselves. */
export function logJobEvent(event: JobEvent): void {
  switch (event.type) {
    case 'skipped':
      return logSkipped(event);
    case 'overdue':
      return logger.error(`${titleOf(event.run)} takes longer than its atMostMs and was told to stop`);
    case 'crashed':
      return logger.warn(`${titleOf(event.run)} was not finished by process ${runnerOf(event.run)}`);
    case 'started':
    case 'finished':
      return;
  }
}

function logSkipped({ name, tick, reason, error }: SkippedEvent): void {
  const message = `${titleOf({ name, tick })} was skipped: ${error ? error.message : reason}`;
  if (reason === 'unavailable') logger.warn(message);
  else logger.debug(message);
}

function titleOf({ name, tick }: Pick<JobRun, 'name' | 'tick'>): string {
  return tick ? `${name} of ${tick.toISOString()}` : name;
}

function runnerOf({ runner }: JobRun): string {
  return `${runner.pid} on ${runner.host}`;
}
