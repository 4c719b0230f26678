import { now } from '../async/clock.js';
import { BoundedMap } from '../async/collections.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import { after } from '../async/timer.js';

const APART_MS = 1_000;
const KEPT_MS = 15_000;
const MOST_WAITING = 8;

interface Answered<T> {
  readonly answer: Promise<T>;
  readonly at: number;
  /** The time for which it is given while a newer one waits for its turn. */
  readonly keptMs: number;
}

/** A text has had no survey: too many others wait, or nobody looks any more. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError';
}

/**
 * The surveys of the page: at most one a second, however many texts are searched for. The texts take turns. The empty
 * one, which stands for the whole cluster, has every second turn while others wait.
 */
export class SurveyTurns<T> {
  readonly #survey: (text: string) => Promise<T>;
  readonly #answers = new BoundedMap<Answered<T>>(MOST_WAITING + 1);
  /** The texts in the order in which they were asked for, with the one that has its turn. */
  readonly #waiting = new Map<string, Deferred<T>>();
  #turn: string | undefined;
  #lastTurn: string | undefined;
  #nextAt = -Infinity;
  #stopTimer: (() => void) | undefined;

  constructor(survey: (text: string) => Promise<T>) {
    this.#survey = survey;
  }

  /**
   * Returns a survey of what begins with the text. It is newer than a second if its turn has come; if not, it is the
   * last one, or the first when that is there. Rejects as the survey does, or with a NoTurnError.
   */
  ask(text: string): Promise<T> {
    const last = this.#answers.get(text);
    const age = last ? now() - last.at : Infinity;
    if (last && age < APART_MS) return last.answer;
    const next = this.#waiting.get(text)?.promise ?? this.#queue(text);
    return last && age < last.keptMs && this.#turn !== text ? last.answer : next;
  }

  /** Rejects all texts that wait. A later question begins again. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const [text, { reject }] of this.#waiting) {
      if (text === this.#turn) continue;
      this.#waiting.delete(text);
      reject(new NoTurnError('nobody looks any more'));
    }
  }

  #queue(text: string): Promise<T> {
    if (text !== '' && this.#waiting.size >= MOST_WAITING) return Promise.reject(new NoTurnError('too many searches'));
    const next = deferred<T>();
    next.promise.catch(() => {});
    this.#waiting.set(text, next);
    this.#takeTurn();
    return next.promise;
  }

  #takeTurn(): void {
    if (this.#turn !== undefined || this.#stopTimer || this.#waiting.size === 0) return;
    const pauseMs = this.#nextAt - now();
    if (pauseMs <= 0) return this.#begin();
    const begin = () => {
      this.#stopTimer = undefined;
      this.#begin();
    };
    this.#stopTimer = after(Math.ceil(pauseMs), begin, 'unref');
  }

  #begin(): void {
    const [first = ''] = [...this.#waiting.keys()].filter((one) => one !== '');
    const text = this.#waiting.has('') && this.#lastTurn !== '' ? '' : first;
    this.#turn = this.#lastTurn = text;
    const answer = this.#survey(text);
    answer.then(
      () => this.#ended(text, answer, KEPT_MS),
      () => this.#ended(text, answer, APART_MS),
    );
  }

  #ended(text: string, answer: Promise<T>, keptMs: number): void {
    this.#turn = undefined;
    this.#nextAt = now() + APART_MS;
    this.#answers.set(text, { answer, at: now(), keptMs });
    this.#waiting.get(text)?.resolve(answer);
    this.#waiting.delete(text);
    this.#takeTurn();
  }
}
