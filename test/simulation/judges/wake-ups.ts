import type { Finding } from '../../robustness/validate/finding.js';
import type { Contender } from '../model/history.js';
import type { WakeUp } from '../servers/simulated-servers.js';

/** The owner, the next in line, the one behind it, which looks ahead, and somebody who revokes. */
const MOST_WATCHES = 4;

const CONTENDER = /^(?<key>.*)\/_c_[^/]*-(lock-|__WRIT__)\d{10}$/;

/** A contender that goes is news to few; but all readers that wait for a writer may go when it does. */
export function checkWakeUps(
  wakeUps: readonly WakeUp[],
  contenders: readonly Pick<Contender, 'key' | 'mode'>[],
): Finding[] {
  const read = new Set(contenders.filter(({ mode }) => mode === 'read').map(({ key }) => key));
  return wakeUps
    .filter(({ path, watches }) => {
      const { key } = CONTENDER.exec(path)?.groups ?? {};
      return watches > MOST_WATCHES && key !== undefined && !read.has(key);
    })
    .map((wakeUp) => ({
      check: 'wake-ups',
      message: `${wakeUp.watches} clients were told that ${wakeUp.path} is gone`,
      records: [wakeUp],
    }));
}
