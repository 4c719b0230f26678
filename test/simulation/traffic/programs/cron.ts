import { setTimeout as passTime } from 'node:timers/promises';
import { JOBS } from '../decorated/jobs.js';
import type { Desk } from '../desk.js';

/** The answer is whether this process ran the job. */
const ANSWER = { answerOf: (value: true) => ({ value }) };

/** Fires the jobs of the process at each tick of its own clock, whether the previous firing has ended or not. */
export async function cron(desk: Desk): Promise<void> {
  const { calls, finishing, jobs, orders } = desk;
  if (!jobs) throw new Error('this process has no jobs');
  const fired = new Set<Promise<unknown>>();
  while (!finishing.aborted) {
    const next = tickOf(Date.now() + orders.tickMs, orders.tickMs);
    await passTime(next - Date.now(), undefined, { signal: finishing }).catch(() => {});
    const tick = tickOf(Date.now(), orders.tickMs);
    // The timer was early, or the clock was set back meanwhile.
    if (finishing.aborted || tick < next) continue;
    for (const job of JOBS) {
      const firing = calls.make({ on: 'job', key: job, ask: 'fire', tick }, () => jobs[job](desk), ANSWER);
      fired.add(firing);
      void firing.finally(() => fired.delete(firing));
    }
  }
  await Promise.all(fired);
}

function tickOf(instant: number, tickMs: number): number {
  return Math.floor(instant / tickMs) * tickMs;
}
