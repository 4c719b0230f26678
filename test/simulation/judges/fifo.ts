import { excludes } from '../../robustness/model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Contender, SimulationHistory } from '../model/history.js';

/**
 * Contenders that exclude each other are granted in the order in which the servers received them. So no grant is
 * earlier than that of a contender before it, nor than the end of one that was never granted. A process need not ask
 * the servers for the end of its own contenders.
 *
 * The documented exceptions do not apply here. Some happen before there is a contender: callers of one process share
 * one, or an entry is delayed. Readers hold together, and a try leaves the queue at once.
 */
export function checkFifo({ contenders }: Pick<SimulationHistory, 'contenders'>): Finding[] {
  return byKey(contenders).flatMap((line) => {
    const inOrder = [...line].sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)));
    return inOrder.flatMap((one, place) => {
      const before = inOrder.slice(0, place).find((other) => isPassed(other, one));
      return before ? [overtaking(before, one)] : [];
    });
  });
}

/** Whether the first contender still waited when the second one was granted. */
function isPassed(before: Contender, { mode, session, grantedAt = Infinity }: Contender): boolean {
  return grantedAt !== Infinity && excludes(before.mode, mode) && grantedAt < waitedUntil(before, session);
}

/**
 * The time until which a contender waited: its grant or its end. A grant after the end of its session is left to
 * `checkBeliefs`. When a contender of the same session gives up, the next one knows it before the servers do. The end
 * of a contender that was neither granted nor deleted is unknown.
 */
function waitedUntil({ session, grantedAt, goneAt }: Contender, judging: string): number {
  const ends = [grantedAt, session === judging ? undefined : goneAt].filter((end) => end !== undefined);
  return ends.length === 0 ? -Infinity : Math.min(...ends);
}

function overtaking(before: Contender, one: Contender): Finding {
  const waited = before.grantedAt === undefined ? 'was never granted' : `was granted at ${before.grantedAt}`;
  return {
    check: 'fifo',
    message: `"${one.key}": ${one.session} (${one.order}) was granted at ${one.grantedAt}, before ${before.session} (${before.order}), which ${waited}`,
    records: [before, one],
  };
}
