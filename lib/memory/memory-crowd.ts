import { orAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';

/** Those who wait until something is so, each for its own; all look whenever something has changed. */
export class MemoryCrowd {
  readonly #looks = new Set<() => void>();

  /** Resolves once `isSo`. Rejects with `signal.reason`. */
  async until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const seen = deferred();
    const look = () => {
      if (isSo()) seen.resolve();
    };
    this.#looks.add(look);
    look();
    await orAbort(seen.promise, signal).finally(() => this.#looks.delete(look));
  }

  look(): void {
    this.#looks.forEach((look) => look());
  }
}
