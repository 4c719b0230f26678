import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/** Every acquisition ended in one of the ways that the contract names. */
export function checkOutcomes({ attempts }: Pick<History, 'attempts'>): Finding[] {
  return attempts
    .filter(({ outcome }) => outcome === 'failed')
    .map((attempt) => ({
      check: 'outcomes',
      message: `${attempt.process} asked for ${attempt.keys.join(', ')} and got: ${attempt.error}`,
      records: [attempt],
    }));
}
