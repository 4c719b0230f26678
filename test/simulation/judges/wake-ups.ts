import type { Finding } from '../../robustness/validate/finding.js';
import type { MadeZnode } from '../model/contenders.js';
import type { WakeUp } from '../servers/simulated-servers.js';

/** The owner, the next contender, the one behind it, which looks ahead, and a client that revokes. */
const MOST_TOLD = 4;

const CONTENDER = /^(?<key>.*)\/_c_[^/]*-(?<kind>lock-|__READ__|__WRIT__)\d{10}$/;

/**
 * The deletion of a contender notifies few clients. All readers that wait for a writer may be notified of its deletion.
 */
export function checkWakeUps(wakeUps: readonly WakeUp[], made: readonly MadeZnode[]): Finding[] {
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
      return wakeUp.sessions.size > MOST_TOLD + waiting.length;
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
