import { excludes } from '../../robustness/model/history.js';
import { byKey } from '../../robustness/validate/by-key.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Contender, SimulationHistory } from '../model/history.js';

/**
 * Contenders that exclude each other are granted in the order in which the servers received them. What departs from that by
 * the documentation happens before there is a contender (callers of one process that share one, the delay of an entry), or is
 * none: readers stand together, and whoever asks once leaves. So no grant is earlier than that of a contender before it, nor
 * than the end of one that was never granted; but a process need not ask the servers for the end of its own contenders.
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

/** Whether it still waited when the other one was granted. */
function isPassed(before: Contender, { mode, session, grantedAt = Infinity }: Contender): boolean {
  return grantedAt !== Infinity && excludes(before.mode, mode) && grantedAt < waitedUntil(before, session);
}

/**
 * Until it was granted or gone. A grant after the end of its session is left to `checkBeliefs`. What a contender of the
 * own session gives up, the next one knows before the servers do. Never granted nor gone: nobody knows when it left.
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
