import type { Attempt, Hold } from '../../robustness/model/history.js';
import { segmentOfKey } from '../../../lib/contract/segment.options.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn } from '../model/history.js';
import type { SimulationHistory } from '../model/history.js';
import { Trouble } from './trouble.js';

type Judged = Pick<SimulationHistory, 'attempts' | 'holds' | 'calls' | 'faults'>;

/** Time limits in simulated milliseconds. */
export interface VainLimits {
  readonly calmMs: number;
  /**
   * The time for which a key may be without a holder while somebody waits for it. It covers some round trips of the
   * contenders before.
   */
  readonly idleMs?: number | undefined;
}

/**
 * Nobody waited in vain: while an acquisition times out, one of its keys is held. A held key of the sets that may
 * already have some of its keys counts as well. Judged only without a fault.
 */
export function checkVainWaits(history: Judged, { calmMs, idleMs = Infinity }: VainLimits): Finding[] {
  const trouble = new Trouble(history);
  const holds = locksOf(history.holds);
  const vain = history.attempts.filter((attempt) => {
    const { outcome, askedAt, answeredAt = askedAt, waitMs } = attempt;
    if (outcome !== 'timeout' || waitMs < idleMs || !trouble.isCalm(askedAt, answeredAt, calmMs)) return false;
    const from = answeredAt - idleMs;
    return !areHeld(holds, keysBehind(attempt, history.attempts, from, answeredAt), from, answeredAt);
  });
  return [
    ...vain.map((attempt) => ({
      check: 'liveness',
      message: `${attempt.process} waited for ${attempt.keys.join(', ')} until its time was over, and nobody had any of it`,
      records: [attempt],
    })),
    ...needlessWaits({ ...history, holds }, trouble, { calmMs, idleMs }),
    ...vainRevocations({ ...history, holds }, trouble, { calmMs, idleMs }),
  ];
}

/** A holder that is revoked releases the key at once, unless it works under the key. */
function vainRevocations(history: Judged, trouble: Trouble, { calmMs, idleMs = Infinity }: VainLimits): Finding[] {
  const { holds } = history;
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

/** A reader waits only for a caller that excludes it, or is about to. */
function needlessWaits(
  { attempts, holds }: Judged,
  trouble: Trouble,
  { calmMs, idleMs = Infinity }: VainLimits,
): Finding[] {
  const others = attempts.filter(({ mode }) => mode !== 'read');
  const writes = holds.filter(({ mode }) => mode !== 'read');
  const needless = attempts.filter(({ mode, keys: [key = ''], askedAt, answeredAt = askedAt }) => {
    if (mode !== 'read' || answeredAt - askedAt < idleMs || !trouble.isCalm(askedAt, answeredAt, calmMs)) return false;
    const from = answeredAt - idleMs;
    const isAsked = others.some(
      (one) => one.keys.includes(key) && one.askedAt <= answeredAt && (one.answeredAt ?? Infinity) >= from,
    );
    return !isAsked && !areHeld(writes, new Set([key]), from, answeredAt);
  });
  return needless.map((attempt) => ({
    check: 'liveness',
    message: `${attempt.process} waited to read ${attempt.keys[0]}, although nobody wrote it nor was about to`,
    records: [attempt],
  }));
}

/** The leases of locks. A caller that has a segment of a key has some of that key. */
function locksOf(holds: readonly Hold[]): Hold[] {
  return holds
    .filter(({ kind }) => kind === undefined)
    .map((hold) => ({ ...hold, key: segmentOfKey(hold.key)?.key ?? hold.key }));
}

/** The keys of the attempt, and those of all sets that may be before it and wait for other keys themselves. */
function keysBehind({ keys }: Attempt, attempts: readonly Attempt[], from: number, until: number): Set<string> {
  const behind = new Set(keys);
  const sets = attempts.filter(({ askedAt, answeredAt = Infinity }) => answeredAt >= from && askedAt <= until);
  for (let size = 0; size < behind.size;) {
    size = behind.size;
    for (const set of sets) if (set.keys.some((key) => behind.has(key))) set.keys.forEach((key) => behind.add(key));
  }
  return behind;
}

/** A holder that seldom looks has its lease until it releases it. */
function areHeld(holds: readonly Hold[], keys: ReadonlySet<string>, from: number, until: number): boolean {
  return holds.some(
    ({ key, from: since, seenUntil, end, endedAt = seenUntil }) =>
      keys.has(key) && since <= until && (end === 'released' ? endedAt : seenUntil) >= from,
  );
}
