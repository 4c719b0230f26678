import { LockError } from '../../../lib/contract/errors.js';
import { sharedNow } from '../clock.js';
import type { Attempt, Outcome } from '../model/history.js';
import type { Journal } from './journal.js';

/** The reason with which a caller gives up. */
export class GivenUp extends Error {}

const OUTCOMES: Readonly<Partial<Record<string, Outcome>>> = {
  LOCK_TIMEOUT: 'timeout',
  LOCK_UNAVAILABLE: 'unavailable',
  LOCK_LOST: 'lost',
  // The reason of a lease that was revoked, and then taken by force.
  LOCK_REVOKED: 'lost',
};

/**
 * Records one acquisition with its outcome.
 * @param take calls back with the outcome as soon as it is known; if it rejects before, the outcome is derived from the
 * error
 */
export async function attempt(
  journal: Journal,
  asked: Pick<Attempt, 'id' | 'keys' | 'mode' | 'waitMs'>,
  take: (answer: (outcome: Outcome) => void) => Promise<void>,
): Promise<void> {
  const { id } = asked;
  let isAnswered = false;
  const answer = (outcome: Outcome, error?: string) => {
    if (!isAnswered) journal.write({ what: 'answered', id, at: sharedNow(), outcome, error });
    isAnswered = true;
  };
  journal.write({ what: 'asked', at: sharedNow(), ...asked });
  try {
    await take(answer);
  } catch (error) {
    if (error instanceof GivenUp) return answer('aborted');
    const outcome = (error instanceof LockError && OUTCOMES[error.code]) || 'failed';
    // This also applies after a grant: work must not fail that way.
    if (outcome === 'failed') isAnswered = false;
    answer(outcome, String(error instanceof Error ? error.stack : error));
  }
}
