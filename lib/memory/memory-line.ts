import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';

type Look = () => boolean;

/** Those who wait until something is as they need it, first come first served. */
export class MemoryLine {
  readonly #waiting: Look[] = [];

  /** What `attempt` answers, once it does; `undefined` at once when it does not, or others are ahead, and nobody waits. */
  async ask<T>(attempt: () => T | undefined, wait: boolean, signal: AbortSignal): Promise<T | undefined> {
    signal.throwIfAborted();
    const answer = this.#waiting.length === 0 || !wait ? attempt() : undefined;
    if (answer !== undefined || !wait) return answer;
    const answered = deferred<T>();
    const look = () => {
      const found = attempt();
      if (found !== undefined) answered.resolve(found);
      return found !== undefined;
    };
    this.#waiting.push(look);
    const dispose = onAbort(signal, (reason) => {
      this.#waiting.splice(this.#waiting.indexOf(look), 1);
      answered.reject(reason);
      this.look();
    });
    return answered.promise.finally(dispose);
  }

  /** Something has changed: serves those ahead, for as long as there is something for the first. */
  look(): void {
    while (this.#waiting[0]?.()) this.#waiting.shift();
  }
}
