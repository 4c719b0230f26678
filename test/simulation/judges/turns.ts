import { excludes } from '../../robustness/model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Contender, SimulationHistory } from '../model/history.js';

/**
 * A process hands a key on among its callers only for a while, once another process waits for it. Judged only without a
 * fault: a process needs a reply of the servers to notice a waiter.
 * @param turnMs how long a process may still grant its callers, after the other one was queued and the process has the
 * key
 */
export function checkTurns(
  { contenders, faults }: Pick<SimulationHistory, 'contenders' | 'faults'>,
  turnMs: number,
): Finding[] {
  const isCalm = (from: number, until: number) =>
    !faults.some((fault) => fault.from <= until && fault.until + turnMs >= from);
  return byKey(contenders).flatMap((line) => {
    const inOrder = [...line].sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)));
    return inOrder.flatMap((one, place) => {
      const { grants = [] } = one;
      const next = inOrder.slice(place + 1).find((other) => waitsFor(other, one));
      const { madeAt: waitsSince = Infinity } = next ?? {};
      // A holder need not know of a waiter before it grants a second caller.
      const [first, ...later] = grants.slice(1).filter((at) => at > waitsSince);
      const lastGrantedAt = later.at(-1);
      if (first === undefined || lastGrantedAt === undefined || !next || isElection(one)) return [];
      const lateMs = lastGrantedAt - first - turnMs;
      // The waiter may have given up before that.
      const hasWaited = next.goneAt === undefined || next.goneAt > lastGrantedAt;
      return lateMs > 0 && hasWaited && isCalm(waitsSince, lastGrantedAt) ? [tooLong(one, next, lateMs)] : [];
    });
  });
}

/** A leader leads for as long as it lives, whatever it does meanwhile. */
function isElection({ key }: Contender): boolean {
  return key.includes('%elections');
}

function waitsFor(other: Contender, one: Contender): boolean {
  return other.session !== one.session && excludes(one.mode, other.mode);
}

function tooLong(one: Contender, next: Contender, lateMs: number): Finding {
  return {
    check: 'turns',
    message: `"${one.key}": ${one.session} let somebody in ${lateMs.toFixed(1)} ms too late, while ${next.session} waited`,
    records: [one, next],
  };
}
