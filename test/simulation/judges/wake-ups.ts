import type { Finding } from '../../robustness/validate/finding.js';
import type { MadeZnode } from '../model/contenders.js';
import { asking, callsOn } from '../model/history.js';
import type { SimulationHistory } from '../model/history.js';
import type { WakeUp } from '../servers/simulated-servers.js';

/** The owner, the next contender, and the one behind it, which looks ahead. */
const MOST_TOLD = 3;

const CONTENDER = /^(?<key>.*)\/_c_[^/]*-(?<kind>lock-|__READ__|__WRIT__)\d{10}$/;

/**
 * The deletion of a contender notifies few clients. All readers that wait for a writer may be notified of its deletion,
 * and each process that revokes its key.
 */
export function checkWakeUps(
  wakeUps: readonly WakeUp[],
  made: readonly MadeZnode[],
  history: Pick<SimulationHistory, 'calls'>,
): Finding[] {
  const revocations = asking(callsOn(history, 'lock'), 'revoke');
  const readers = made.filter(({ path }) => contenderOf(path)?.kind === '__READ__');
  return wakeUps
    .filter(({ sessions }) => sessions.size > MOST_TOLD)
    .filter((wakeUp) => {
      const { key, kind = '__READ__' } = contenderOf(wakeUp.path) ?? {};
      if (kind === '__READ__') return false;
      const madeAt = made.find(({ path }) => path === wakeUp.path)?.madeAt ?? -Infinity;
      const waiting = readers.filter(
        (one) =>
          contenderOf(one.path)?.key === key && one.madeAt <= wakeUp.lastAt && (one.goneAt ?? Infinity) >= madeAt,
      );
      const revoking = revocations.filter(
        ({ call, calledAt, returnedAt = Infinity }) =>
          key?.endsWith(`/${call.key}`) && calledAt <= wakeUp.lastAt && returnedAt >= madeAt,
      );
      const revokers = new Set(revoking.map(({ process }) => process));
      return wakeUp.sessions.size > MOST_TOLD + waiting.length + revokers.size;
    })
    .map((wakeUp) => ({
      check: 'wake-ups',
      message: `${wakeUp.sessions.size} clients were told that ${wakeUp.path} is gone`,
      records: [wakeUp],
    }));
}

function contenderOf(path: string): { readonly key?: string; readonly kind?: string } | undefined {
  return CONTENDER.exec(path)?.groups;
}
