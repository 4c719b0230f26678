import { now } from '../async/clock.js';
import { BoundedMap } from '../async/collections.js';

const EVERY_MS = 60_000;
/** There are few subjects: methods and jobs. Labels may be made of ids, however. */
const MOST_SUBJECTS = 1_000;

interface Told {
  readonly at: number;
  leftOut: number;
}

/**
 * Log entries about what is normal, and may happen many times a second: at most one a minute for each subject. The next
 * one says how many were left out.
 */
export class RareLines {
  readonly #told = new BoundedMap<Told>(MOST_SUBJECTS);
  readonly #clock: () => number;

  /** @param clock milliseconds that never run backwards */
  constructor(clock: () => number = now) {
    this.#clock = clock;
  }

  /** Logs the message, unless there was one about the subject within the last minute. */
  tell(subject: string, message: string, log: (message: string) => void): void {
    const told = this.#told.get(subject);
    const time = this.#clock();
    if (told && time - told.at < EVERY_MS) {
      told.leftOut++;
      return;
    }
    this.#told.set(subject, { at: time, leftOut: 0 });
    const leftOut = told?.leftOut ?? 0;
    log(leftOut === 0 ? message : `${message} (${leftOut} more since the last line about it)`);
  }
}
