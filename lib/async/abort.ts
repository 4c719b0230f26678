import { LinkedList } from './collections.js';
import type { Place } from './collections.js';

/** Undoes a subscription. A second call has no effect. */
export type Dispose = () => void;

/** An object that waits for a signal. An object and not a function: many wait, and a function for each costs memory. */
export interface AbortListener {
  /** Called once, when the signal aborts. */
  aborted(reason: unknown): void;
}

const NOTHING: Dispose = () => {};

const SUBSCRIBERS = Symbol('subscribers');

// On the signal itself: a `WeakMap` of so many short-lived signals would be most of the garbage collector's work.
interface KnownSignal extends AbortSignal {
  [SUBSCRIBERS]?: Subscribers | undefined;
}

/**
 * Notifies `listener` once: when `signal` aborts, or at once if it has aborted already. It leaves its place to be
 * notified no more. `undefined`: nothing will come.
 */
export function listenTo(signal: AbortSignal, listener: AbortListener): Place<AbortListener> | undefined {
  if (signal === NEVER) return undefined;
  if (!signal.aborted) return ((signal as KnownSignal)[SUBSCRIBERS] ?? new ListeningSubscribers(signal)).join(listener);
  listener.aborted(signal.reason);
  return undefined;
}

/** Calls `listener` once: when `signal` aborts, or at once if it has aborted already. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): Dispose {
  const place = listenTo(signal, { aborted: listener });
  return place ? () => void place.leave() : NOTHING;
}

/** The listeners of one signal. */
class Subscribers extends LinkedList<AbortListener> {
  fire(reason: unknown): void {
    // A listener may remove another, which must then not be called.
    while (this.size > 0) this.shift()?.aborted(reason);
  }
}

/**
 * The subscribers of a signal that other code aborts. They share one event listener, because each one has a cost, and
 * Node warns of a leak at the eleventh.
 */
class ListeningSubscribers extends Subscribers {
  readonly #signal: KnownSignal;

  constructor(signal: KnownSignal) {
    super();
    this.#signal = signal;
    signal[SUBSCRIBERS] = this;
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  readonly #aborted = (): void => {
    this.#stop();
    this.fire(this.#signal.reason);
  };

  /** Stops listening with the last listener. */
  override remove(...[link]: Parameters<Subscribers['remove']>): void {
    super.remove(link);
    if (this.size === 0) this.#stop();
  }

  #stop(): void {
    this.#signal[SUBSCRIBERS] = undefined;
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}

/**
 * An AbortController for signals that this package waits for often. `onAbort` needs no event listener on them. Event
 * listeners are a good part of what an acquisition costs this process.
 */
export class OwnAbortController extends AbortController {
  readonly #subscribers = new Subscribers();

  constructor() {
    super();
    (this.signal as KnownSignal)[SUBSCRIBERS] = this.#subscribers;
  }

  override abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    super.abort(reason);
    this.#subscribers.fire(this.signal.reason);
  }
}

/** Settles as the promise does, or rejects with `signal.reason`, whichever is first. Leaves no listener behind. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal === NEVER) return promise;
  return new Promise<T>((resolve, reject) => {
    const dispose = onAbort(signal, reject);
    promise.then(
      (value) => {
        dispose();
        resolve(value);
      },
      (error: unknown) => {
        dispose();
        reject(error);
      },
    );
  });
}

/** Returns a signal that aborts when any of `sources` does. `dispose` unsubscribes it from them. */
export function anyAbort(sources: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; dispose: Dispose } {
  const given = sources.filter((source): source is AbortSignal => source !== undefined && source !== NEVER);
  // Signals are a good part of what an acquisition costs this process. One is created only to combine several.
  if (given.length < 2) return { signal: given[0] ?? NEVER, dispose: NOTHING };
  const controller = new OwnAbortController();
  const disposals = given.map((source) => onAbort(source, (reason) => controller.abort(reason)));
  return { signal: controller.signal, dispose: () => disposals.splice(0).forEach((undo) => undo()) };
}

/** Returns the result of `work`, whose signal aborts when any of `sources` does. Leaves no listener behind. */
export async function withAnyAbort<T>(
  sources: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, dispose } = anyAbort(sources);
  try {
    return await work(signal);
  } finally {
    dispose();
  }
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;
