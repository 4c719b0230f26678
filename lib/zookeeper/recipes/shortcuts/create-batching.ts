import { onAbort } from '../../../async/abort.js';
import type { Dispose } from '../../../async/abort.js';
import { LinkedList, StringMap } from '../../../async/collections.js';
import { after } from '../../../async/timer.js';

// With fewer contenders ahead, an early create is worth more than a shared one. With a local queue, a process rarely
// has as many contenders.
const FEWEST_AHEAD = 4;

/**
 * Delays the creates of contenders behind several others of their session, and sends them together.
 * - A create is held back for a moment. All creates that are held back in that moment are sent at once, in their order.
 * - They share one listing. They are neighbours in the queue, so they hand over to each other within the process.
 * - A delayed contender could not have had its turn before those ahead. It may lose its place to contenders of other
 *   processes that are created meanwhile.
 * - When no contender that excludes others is ahead any more, they are sent at once.
 * - No contender of the same session passes them.
 * Source: PostgreSQL's `commit_delay` and `commit_siblings`.
 */
export class CreateBatching {
  /** This session's contenders that have yet to leave, and whether each excludes all others. */
  readonly #ahead = new StringMap<boolean>();
  #excluding = 0;
  readonly #held = new LinkedList<() => void>();
  #stopTimer: Dispose | undefined;

  /** @param excludes whether the contender excludes all others */
  joined(name: string, excludes: boolean): void {
    if (excludes && !this.#ahead.get(name)) this.#excluding++;
    this.#ahead.set(name, excludes);
  }

  /** Called when a contender is leaving or has left. May send creates that are held back. */
  leaving(name: string): void {
    if (this.#ahead.get(name)) this.#excluding--;
    if (this.#ahead.delete(name) && this.#excluding === 0 && this.#held.size > 0) this.end();
  }

  /** Whether a create is to be held back now. */
  get isWorthIt(): boolean {
    return this.#held.size > 0 || (this.#excluding > 0 && this.#ahead.size >= FEWEST_AHEAD);
  }

  /**
   * Resolves to the result of `send`, which is called when it is time. Rejects with the reason of the first aborted
   * signal.
   */
  hold<T>(delayMs: number, signals: readonly AbortSignal[], send: () => Promise<T>): Promise<T> {
    const over = signals.find(({ aborted }) => aborted);
    if (over) return Promise.reject(over.reason as Error);
    return new Promise((resolve, reject) => {
      const place = this.#held.join(() => {
        unlisten.forEach((undo) => undo());
        resolve(send());
      });
      const giveUp = (reason: unknown) => {
        place.leave();
        unlisten.forEach((undo) => undo());
        if (this.#held.size === 0) this.end();
        reject(reason);
      };
      this.#stopTimer ??= after(delayMs, () => this.end());
      const unlisten = signals.map((signal) => onAbort(signal, giveUp));
    });
  }

  /** Sends all creates that are held back, at once. */
  end(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    while (this.#held.size > 0) this.#held.shift()?.();
  }
}
