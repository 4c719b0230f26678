import { getEventListeners } from 'node:events';
import { LinkedList } from './collections.js';

/** Undoes a subscription; calling it twice does nothing more. */
export type Dispose = () => void;

type Listener = (reason: unknown) => void;

const NOTHING: Dispose = () => {};

const SUBSCRIBERS = Symbol('subscribers');

// On the signal itself: so many signals come and go that a WeakMap of them would be most of the garbage collector's work.
interface KnownSignal extends AbortSignal {
  [SUBSCRIBERS]?: Subscribers | undefined;
}

/** Calls `listener` once, when `signal` aborts or at once when it has. */
export function onAbort(signal: AbortSignal, listener: Listener): Dispose {
  if (signal === NEVER) return NOTHING;
  if (signal.aborted) {
    listener(signal.reason);
    return NOTHING;
  }
  return ((signal as KnownSignal)[SUBSCRIBERS] ?? new ListeningSubscribers(signal)).add(listener);
}

/** Who wants to know when a signal aborts. */
class Subscribers {
  readonly #listeners = new LinkedList<Listener>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: Listener): Dispose {
    const place = this.#listeners.join(listener);
    return () => {
      if (place.leave() && this.isEmpty) this.left();
    };
  }

  /** Called when the last one has left. */
  protected left(): void {}

  fire(reason: unknown): void {
    // One may dispose another, which must then not be called.
    while (!this.isEmpty) this.#listeners.shift()?.(reason);
  }
}

/**
 * The subscribers of a signal that somebody else aborts: one event listener, however many wait for it. Node warns of a
 * leak at the eleventh, and each costs.
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
    this.left();
    this.fire(this.#signal.reason);
  };

  protected override left(): void {
    this.#signal[SUBSCRIBERS] = undefined;
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}

/**
 * An AbortController whose signal this package waits for a lot: `onAbort` needs no event listener on it, and listeners
 * are a good part of what an acquisition costs this process.
 */
export class OwnAbortController extends AbortController {
  readonly #subscribers = new Subscribers();

  constructor() {
    super();
    (this.signal as KnownSignal)[SUBSCRIBERS] = this.#subscribers;
  }

  /** Whether it has not aborted, and nobody listens. */
  get isIdle(): boolean {
    return !this.signal.aborted && this.#subscribers.isEmpty && getEventListeners(this.signal, 'abort').length === 0;
  }

  override abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    super.abort(reason);
    this.#subscribers.fire(this.signal.reason);
  }
}

/** The promise, or a rejection with `signal.reason`, whichever is first. Leaves no listener behind. */
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

/** A signal that aborts when any of `sources` does, and lets go of them when disposed. */
export function anyAbort(sources: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; dispose: Dispose } {
  const given = sources.filter((source): source is AbortSignal => source !== undefined && source !== NEVER);
  // Signals are a good part of what an acquisition costs this process: one is made only to join others.
  if (given.length < 2) return { signal: given[0] ?? NEVER, dispose: NOTHING };
  const controller = new OwnAbortController();
  const disposals = given.map((source) => onAbort(source, (reason) => controller.abort(reason)));
  return { signal: controller.signal, dispose: () => disposals.splice(0).forEach((undo) => undo()) };
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;

/**
 * Controllers of what is over, for what comes next: on Node 20 to make a signal costs a process more than anything else
 * that an acquisition does, and its collector as well.
 */

const MOST = 1_000;

const spares: OwnAbortController[] = [];

/** A controller that has not aborted, and that nobody listens to. */
export function takeController(): OwnAbortController {
  return spares.pop() ?? new OwnAbortController();
}

/** Only by whoever knows that nobody goes on with its signal. One that has aborted, or is listened to, serves nobody else. */
export function putBack(controller: OwnAbortController): void {
  if (spares.length < MOST && controller.isIdle) spares.push(controller);
}
