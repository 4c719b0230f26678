import type { Hold } from '../../robustness/model/history.js';
import { asTheyBegan } from '../../robustness/validate/as-they-began.js';
import { wasClosedOnPurpose } from '../../robustness/validate/closed-sessions.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { INITIAL_PERMITS } from '../model/initial.js';
import { asking, callsOn, isDone, isOpen } from '../model/history.js';
import type { Call } from '../model/call.js';
import type { MadeCall, SimulationHistory } from '../model/history.js';

/** A number of permits that was set, and the time at which that may have been. */
interface Setting {
  readonly permits: number;
  readonly from: number;
  /** The time by which it was surely set; `Infinity` if that is unknown. */
  readonly by: number;
}

/**
 * The number of permits that are held never exceeds the number in force at the last of their grants. A smaller number
 * lets holders finish, and admits nobody. The last grant was not before the last of the holders asked, and not after
 * its hold began.
 */
export function checkPermits(history: Pick<SimulationHistory, 'holds' | 'calls' | 'faults'>): Finding[] {
  const semaphores = callsOn(history, 'semaphore');
  const askedAt = new Map(semaphores.map(({ id, calledAt }) => [id, calledAt]));
  const held = history.holds.filter((hold) => hold.kind === 'permits' && !wasClosedOnPurpose(hold, history.faults));
  return asTheyBegan(held).flatMap((holds) => {
    // All semaphores of the traffic share one number.
    const settings = settingsOf(asking(semaphores, 'setPermits'));
    return tooMany(holds, askedAt, settings);
  });
}

function settingsOf(sets: readonly MadeCall<Extract<Call, { on: 'semaphore'; permits: number }>>[]): Setting[] {
  const known = sets.flatMap((set): Setting[] => {
    const { call, calledAt: from, returnedAt = Infinity } = set;
    if (isDone(set)) return [{ permits: call.permits, from, by: returnedAt }];
    return isOpen(set) ? [{ permits: call.permits, from, by: Infinity }] : [];
  });
  return [{ permits: INITIAL_PERMITS, from: -Infinity, by: -Infinity }, ...known];
}

function tooMany(
  holds: readonly Hold[],
  askedAt: ReadonlyMap<string, number>,
  settings: readonly Setting[],
): Finding[] {
  const found: Finding[] = [];
  let believing: Hold[] = [];
  for (const hold of holds) {
    believing = [...believing.filter(({ seenUntil }) => seenUntil > hold.from), hold];
    const lastAskedAt = Math.max(...believing.map(({ call = '', from }) => askedAt.get(call) ?? from));
    const most = mostInForce(settings, lastAskedAt, hold.from);
    const sum = believing.reduce((all, { permits = 1 }) => all + permits, 0);
    if (sum > most)
      found.push({
        check: 'permits',
        message: `"${hold.key}": ${sum} permits were held of ${most}`,
        records: believing,
      });
  }
  return found;
}

/** The largest number that may have been in force at any time in the interval. */
function mostInForce(settings: readonly Setting[], from: number, until: number): number {
  const isReplaced = (setting: Setting) =>
    settings.some((later) => later !== setting && later.from >= setting.by && later.by <= from);
  const possible = settings.filter((setting) => setting.from <= until && !isReplaced(setting));
  return Math.max(...possible.map(({ permits }) => permits));
}
