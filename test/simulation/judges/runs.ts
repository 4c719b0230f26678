import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn } from '../model/history.js';
import { Trouble } from './trouble.js';
import type { MadeCall, Run, SimulationHistory } from '../model/history.js';

type Runs = Pick<SimulationHistory, 'runs' | 'calls' | 'attempts' | 'faults' | 'holds'>;
type Firing = MadeCall & { readonly job: string; readonly tick: number };

/** The job whose ticks are finished by others when a process dies. */
const RERUN_JOB = 'again';
const MOST_ATTEMPTS = 3;

/**
 * A tick runs once, whatever the clocks say. A tick of the job that is rerun runs again only after a fault or the loss
 * of the run's lease, and attempts are counted. No tick runs after a later one. Without a fault, every fired tick has
 * run.
 * @param calmMs how long after a fault, or after the start, everybody works again
 * @param releaseMs how long it takes to release a lock
 */
export function checkRuns(history: Runs, calmMs: number, releaseMs = 0): Finding[] {
  const runs = byKey(history.runs.map((run) => ({ ...run, key: run.job })));
  return [
    ...runs.flatMap((ofJob) => [...repeated(ofJob, history), ...outOfOrder(ofJob)]),
    ...missed(history, calmMs, releaseMs),
  ];
}

function repeated(runs: readonly Run[], history: Runs): Finding[] {
  return byKey(runs.map((run) => ({ ...run, key: String(run.tick) }))).flatMap((ofTick) => {
    const inOrder = inTheirOrder(ofTick);
    return inOrder.flatMap((run, place) => {
      const before = inOrder[place - 1];
      const why = before === undefined ? badStart(run) : badRepetition(before, run, history);
      return why === undefined ? [] : [finding(`"${run.job}": the tick ${run.tick} ${why}`, inOrder)];
    });
  });
}

/** With several services, job names begin with the name of the service. */
function isRerun(job: string): boolean {
  return job === RERUN_JOB || job.endsWith(` ${RERUN_JOB}`);
}

/** If the first attempt is not recorded, it died between its mark and its work. */
function badStart({ job, attempt }: Run): string | undefined {
  return isRerun(job) || attempt === 1 ? undefined : `was begun with attempt ${attempt}`;
}

function badRepetition(before: Run, run: Run, { faults, holds }: Runs): string | undefined {
  if (!isRerun(run.job)) return 'was run twice';
  if (run.attempt <= before.attempt) return `was run with attempt ${run.attempt} after ${before.attempt}`;
  if (run.attempt > MOST_ATTEMPTS) return `was begun ${run.attempt} times`;
  const hasReason =
    faults.some(({ from, until }) => from <= run.from && until >= before.from) ||
    // Leases of several keys may have one token.
    holds.some((hold) => hold.end === 'lost' && hold.token === before.token && hold.key.endsWith(RERUN_JOB));
  return hasReason ? undefined : 'was run again with nothing broken in between';
}

function outOfOrder(runs: readonly Run[]): Finding[] {
  const inOrder = inTheirOrder(runs);
  return inOrder.flatMap((run, place) => {
    const before = inOrder[place - 1];
    if (before === undefined || before.tick <= run.tick) return [];
    return [finding(`"${run.job}": the tick ${run.tick} was run after ${before.tick}`, [before, run])];
  });
}

function inTheirOrder<T extends Run>(runs: readonly T[]): T[] {
  return [...runs].sort((a, b) => (a.token < b.token ? -1 : Number(a.token > b.token)));
}

function missed(history: Runs, calmMs: number, releaseMs: number): Finding[] {
  const firings = asking(callsOn(history, 'job'), 'fire').map((one) => ({
    ...one,
    key: `${one.call.key} ${one.call.tick}`,
    job: one.call.key,
    tick: one.call.tick,
  }));
  const trouble = new Trouble(history);
  const startedAt = Math.min(...firings.map(({ calledAt }) => calledAt));
  return byKey(firings).flatMap((ofTick) => {
    const [{ job, tick } = ofTick[0]!] = ofTick;
    const from = Math.min(...ofTick.map(({ calledAt }) => calledAt));
    const until = Math.max(...ofTick.map(({ returnedAt = Infinity }) => returnedAt));
    const isCalm = trouble.isCalm(from, until, calmMs);
    const isExcused = from < startedAt + calmMs || !isCalm || hadCause(history.runs, job, tick, from, until, releaseMs);
    return isExcused ? [] : [finding(`"${job}": nobody ran the tick ${tick}, with nothing broken`, ofTick)];
  });
}

/**
 * Whether the tick ran, or has a reason to be missing. An earlier run may have continued or been releasing its lock. A
 * clock that is ahead may have reached a later tick.
 */
function hadCause(
  runs: readonly Run[],
  job: Firing['job'],
  tick: number,
  from: number,
  until: number,
  releaseMs: number,
): boolean {
  return runs.some((run) => {
    if (run.job !== job) return false;
    if (run.tick === tick) return true;
    return run.tick > tick ? run.from <= until : run.from <= until && (run.until ?? Infinity) + releaseMs >= from;
  });
}

function finding(message: string, records: readonly unknown[]): Finding {
  return { check: 'runs', message, records };
}
