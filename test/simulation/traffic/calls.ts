import { LockError } from '../../../lib/contract/errors.js';
import { sharedNow } from '../../robustness/clock.js';
import { GivenUp } from '../../robustness/traffic/attempt.js';
import type { Answer, Call, CallOutcome } from '../model/call.js';
import type { TrafficTools } from './tools.js';

/** A call under way. */
export interface Asked {
  readonly id: string;
  /** Reports that the call has what it asked for, and continues: the result is used inside. */
  readonly done: () => void;
}

/** The result of a call, for the program that made it. */
export interface Made<T> {
  readonly id: string;
  readonly outcome: CallOutcome;
  /** The value that it resolved with, if it is done. */
  readonly value?: T;
}

export interface CallDetails<T> {
  /** The time that the call may take by its own options and its signal, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** The part of the result that is judged. */
  readonly answerOf?: (value: T) => Partial<Answer>;
}

const OUTCOMES: Readonly<Partial<Record<string, CallOutcome>>> = {
  LOCK_TIMEOUT: 'timeout',
  LOCK_LOST: 'lost',
  LOCK_REVOKED: 'lost',
  LOCK_UNAVAILABLE: 'unknown',
  LOCK_CONFIGURATION: 'refused',
};

/** Makes calls on shared objects, and records their begin and their end. */
export class Calls {
  readonly #tools: Pick<TrafficTools, 'process' | 'record'>;
  #count = 0;

  constructor(tools: Pick<TrafficTools, 'process' | 'record'>) {
    this.#tools = tools;
  }

  /** Makes a call. Never rejects. */
  async make<T>(
    call: Call,
    ask: (asked: Asked) => Promise<T>,
    { waitMs, answerOf }: CallDetails<NonNullable<T>> = {},
  ): Promise<Made<NonNullable<T>>> {
    const id = `${this.#tools.process}/c${++this.#count}`;
    this.#tools.record({ what: 'call', id, at: sharedNow(), call, ...(waitMs !== undefined && { waitMs }) });
    let isReturned = false;
    const answer = (answered: Answer): Answer => {
      // An error that no promise mentions is recorded even if the call already had what it asked for.
      if (!isReturned || answered.outcome === 'failed') {
        this.#tools.record({ what: 'return', id, at: sharedNow(), answer: answered });
      }
      isReturned = true;
      return answered;
    };
    try {
      const value = await ask({ id, done: () => void answer({ outcome: 'done' }) });
      const { outcome } = answer(answerTo(value, answerOf));
      return { id, outcome, ...(value !== null && value !== undefined && { value }) };
    } catch (error) {
      return { id, outcome: answer(answerIn(error)).outcome };
    }
  }
}

function answerTo<T>(value: T, answerOf?: (value: NonNullable<T>) => Partial<Answer>): Answer {
  if (value === null) return { outcome: 'nothing' };
  return { outcome: 'done', ...(value !== undefined && answerOf?.(value)) };
}

function answerIn(error: unknown): Answer {
  if (error instanceof GivenUp) return { outcome: 'aborted' };
  const outcome = (error instanceof LockError && OUTCOMES[error.code]) || 'failed';
  return { outcome, error: String(outcome === 'failed' && error instanceof Error ? error.stack : error) };
}
