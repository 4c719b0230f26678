import type { Attempt, History } from '../model/history.js';
import type { Finding } from './finding.js';

/** No reader was refused a key for which there was no request to write. */
export function checkRefusals({ attempts }: Pick<History, 'attempts'>): Finding[] {
  const written = new Set(attempts.filter(({ mode }) => mode !== 'read').flatMap(({ keys }) => keys));
  const isUnfounded = ({ outcome, keys }: Attempt) =>
    outcome === 'not this time' && keys.every((key) => !written.has(key));
  return attempts.filter(isUnfounded).map((attempt) => ({
    check: 'refusals',
    message: `${attempt.process} was told that ${attempt.keys.join(', ')} is taken, which nobody writes`,
    records: [attempt],
  }));
}
