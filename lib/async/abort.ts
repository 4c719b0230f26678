/** Undoes a subscription; calling it twice does nothing more. */
export type Dispose = () => void;

// One event listener a signal, however many wait for it: Node warns of a leak at the eleventh, and each costs.
const waiting = new WeakMap<AbortSignal, Subscribers>();

/** Calls `listener` once, when `signal` aborts or at once when it has. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): Dispose {
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  const subscribers = waiting.get(signal) ?? new Subscribers(signal);
  waiting.set(signal, subscribers);
  return subscribers.add(listener);
}

class Subscribers {
  readonly #signal: AbortSignal;
  readonly #listeners = new Map<symbol, (reason: unknown) => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  add(listener: (reason: unknown) => void): Dispose {
    const key = Symbol('subscription');
    this.#listeners.set(key, listener);
    return () => {
      if (this.#listeners.delete(key) && this.#listeners.size === 0) this.#leave();
    };
  }

  readonly #aborted = (): void => {
    this.#leave();
    // One may dispose another, which must then not be called.
    for (const [key, listener] of this.#listeners) {
      this.#listeners.delete(key);
      listener(this.#signal.reason);
    }
  };

  #leave(): void {
    waiting.delete(this.#signal);
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}

/** The promise, or a rejection with `signal.reason`, whichever is first. Leaves no listener behind. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const dispose = onAbort(signal, reject);
    promise.then(resolve, reject).finally(dispose);
  });
}

/** A signal that aborts when any of `sources` does, and lets go of them when disposed. */
export function anyAbort(sources: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; dispose: Dispose } {
  const given = sources.filter((source) => source !== undefined);
  // Signals are a good part of what an acquisition costs this process: one is made only to join others.
  if (given.length < 2) return { signal: given[0] ?? NEVER, dispose: () => {} };
  const controller = new AbortController();
  const disposals = given.map((source) => onAbort(source, (reason) => controller.abort(reason)));
  return { signal: controller.signal, dispose: () => disposals.splice(0).forEach((undo) => undo()) };
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;
