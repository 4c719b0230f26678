import { onAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { StringMap, LinkedList } from '../../async/collections.js';
import { after } from '../../async/timer.js';
import { standingOf } from './contender-name.js';

// With fewer of them, to come in early is worth more than to come in together. A local line hardly ever has as many contenders.
const FEWEST_AHEAD = 4;

/**
 * Whoever lines up behind several others of its own session is held back for a moment, and comes in with those who are held
 * back in that moment, in their order: one list for all of them, and as they stand one behind the other, they hand over to each
 * other within the process. It can not have its turn before those ahead; what it may lose is its place before those of other
 * processes that come in meanwhile. When nobody who excludes others is ahead any more it goes at once. Nobody of its session
 * passes it.
 * Source: PostgreSQL's `commit_delay` and `commit_siblings`.
 */
export class CreateBatching {
  /** Of this session, who has yet to go out, and whether it excludes all others. */
  readonly #ahead = new StringMap<boolean>();
  #excluding = 0;
  readonly #held = new LinkedList<() => void>();
  #stopTimer: Dispose | undefined;

  joined(name: string): void {
    const kind = standingOf(name)?.kind;
    const excludes = kind === 'lock' || kind === 'write';
    if (excludes && !this.#ahead.get(name)) this.#excluding++;
    this.#ahead.set(name, excludes);
  }

  /** It is on its way out, or has gone. May send in others. */
  leaving(name: string): void {
    if (this.#ahead.get(name)) this.#excluding--;
    if (this.#ahead.delete(name) && this.#excluding === 0) this.end();
  }

  /** Whether whoever comes in now is to be held back. */
  get isWorthIt(): boolean {
    return this.#held.size > 0 || (this.#excluding > 0 && this.#ahead.size >= FEWEST_AHEAD);
  }

  /** What `send` promises, which is called when it is time; or a rejection with the reason of the first signal that aborts. */
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

  /** Sends in all who are held back, at once. */
  end(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    while (this.#held.size > 0) this.#held.shift()?.();
  }
}
