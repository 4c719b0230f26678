import { LockError } from '../../../lib/contract/errors.js';
import { sharedNow } from '../clock.js';
import type { Attempt, Outcome } from '../model/history.js';
import type { Journal } from './journal.js';

/** What a caller gives up with. */
export class GivenUp extends Error {}

const OUTCOMES: Readonly<Partial<Record<string, Outcome>>> = {
  LOCK_TIMEOUT: 'timeout',
  LOCK_UNAVAILABLE: 'unavailable',
  LOCK_LOST: 'lost',
};

/**
 * One acquisition, written down with its outcome.
 * @param take says the outcome as soon as it is known; what it rejects with is the outcome otherwise
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
    // Also where a lease had been granted: nothing may fail that way.
    if (outcome === 'failed') isAnswered = false;
    answer(outcome, String(error instanceof Error ? error.stack : error));
  }
}
