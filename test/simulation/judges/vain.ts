import type { Attempt, Hold } from '../../robustness/model/history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn } from '../model/history.js';
import type { SimulationHistory } from '../model/history.js';
import { Trouble } from './trouble.js';

type Judged = Pick<SimulationHistory, 'attempts' | 'holds' | 'calls' | 'faults'>;

/** How long, in simulated milliseconds. */
export interface VainLimits {
  readonly calmMs: number;
  /** What a key may be without a holder while somebody waits for it: for some round trips of those before. */
  readonly idleMs?: number | undefined;
}

/**
 * Nobody waited in vain: while an acquisition runs into its time-out, somebody holds one of its keys, or of the keys that
 * the sets wait for which may have some of them already. Judged where nothing is broken.
 */
export function checkVainWaits(history: Judged, { calmMs, idleMs = Infinity }: VainLimits): Finding[] {
  const trouble = new Trouble(history);
  const holds = history.holds.filter(({ kind }) => kind === undefined);
  const vain = history.attempts.filter((attempt) => {
    const { outcome, askedAt, answeredAt = askedAt, waitMs } = attempt;
    if (outcome !== 'timeout' || waitMs < idleMs || !trouble.isCalm(askedAt, answeredAt, calmMs)) return false;
    const from = answeredAt - idleMs;
    return !areHeld(holds, keysBehind(attempt, history.attempts, from), from, answeredAt);
  });
  return [
    ...vain.map((attempt) => ({
      check: 'liveness',
      message: `${attempt.process} waited for ${attempt.keys.join(', ')} until its time was over, and nobody had any of it`,
      records: [attempt],
    })),
    ...needlessWaits(history, trouble, { calmMs, idleMs }),
    ...vainRevocations(history, holds, trouble, { calmMs, idleMs }),
  ];
}

/** Whoever is asked to give a key back does so at once, unless it works under the key. */
function vainRevocations(
  history: Judged,
  holds: readonly Hold[],
  trouble: Trouble,
  { calmMs, idleMs = Infinity }: VainLimits,
): Finding[] {
  return asking(callsOn(history, 'lock'), 'revoke').flatMap((one) => {
    const { call, process, calledAt, returnedAt = calledAt } = one;
    const isLong = returnedAt - calledAt >= idleMs && trouble.isCalm(calledAt, returnedAt, calmMs);
    if (!isLong) return [];
    const isIdle = !areHeld(holds, new Set([call.key]), returnedAt - idleMs, returnedAt);
    const deaf = holds.some(
      ({ key, from, seenUntil }) => key === call.key && from <= calledAt && seenUntil >= calledAt + idleMs,
    );
    if (!isIdle && !deaf) return [];
    const message = `${process} asked for "${call.key}" to be given back, and waited ${deaf ? 'for a holder that worked on' : 'although nobody worked under it'}`;
    return [{ check: 'liveness', message, records: [one] }];
  });
}

/** A reader waits for somebody who excludes it, or is about to. */
function needlessWaits(
  { attempts, holds }: Judged,
  trouble: Trouble,
  { calmMs, idleMs = Infinity }: VainLimits,
): Finding[] {
  const others = attempts.filter(({ mode }) => mode !== 'read');
  const needless = attempts.filter(({ mode, keys: [key = ''], askedAt, answeredAt = askedAt }) => {
    if (mode !== 'read' || answeredAt - askedAt < idleMs || !trouble.isCalm(askedAt, answeredAt, calmMs)) return false;
    const from = answeredAt - idleMs;
    const isAsked = others.some(
      (one) => one.keys.includes(key) && one.askedAt <= answeredAt && (one.answeredAt ?? Infinity) >= from,
    );
    return !isAsked && !holds.some((hold) => hold.key === key && hold.mode !== 'read' && hold.seenUntil >= from);
  });
  return needless.map((attempt) => ({
    check: 'liveness',
    message: `${attempt.process} waited to read ${attempt.keys[0]}, although nobody wrote it nor was about to`,
    records: [attempt],
  }));
}

/** The keys of the attempt, and of all that may stand before it and wait for other keys themselves. */
function keysBehind({ keys }: Attempt, attempts: readonly Attempt[], from: number): Set<string> {
  const behind = new Set(keys);
  const sets = attempts.filter(
    ({ keys: wanted, askedAt, waitMs, answeredAt = Infinity }) =>
      wanted.length > 1 && answeredAt >= from && askedAt <= from + waitMs,
  );
  for (let size = 0; size < behind.size;) {
    size = behind.size;
    for (const set of sets) if (set.keys.some((key) => behind.has(key))) set.keys.forEach((key) => behind.add(key));
  }
  return behind;
}

function areHeld(holds: readonly Hold[], keys: ReadonlySet<string>, from: number, until: number): boolean {
  return holds.some((hold) => keys.has(hold.key) && hold.from <= until && hold.seenUntil >= from);
}
