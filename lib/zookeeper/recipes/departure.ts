import type { Dispose } from '../../async/abort.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';

/** Called once, with an error when the znode can not be watched. */
export type DepartureListener = (error?: unknown) => void;

/** How waiting for a departure ends: the znode is gone; nobody knows; nobody may ask; nobody cares any more. */
export type DepartureEnd = 'left' | 'unknown' | 'refused' | 'let go';

/** That one contender leaves, for all of this session who wait for it: one watch, however many they are. */
export class Departure {
  readonly #session: Session;
  readonly #path: string;
  readonly #onEnd: (how: DepartureEnd) => void;
  readonly #listeners = new Set<DepartureListener>();
  #watch: Watch | undefined;
  #isOver = false;

  constructor(session: Session, path: string, onEnd: (how: DepartureEnd) => void) {
    this.#session = session;
    this.#path = path;
    this.#onEnd = onEnd;
  }

  /** Disposing the last listener takes the watch back. */
  add(listener: DepartureListener): Dispose {
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end('let go');
    };
  }

  /** Has the servers say when it goes. */
  watch(): void {
    this.#session.requests.watch(this.#path).then(
      (watch) => this.#watched(watch),
      (error: unknown) => this.#unwatched(error),
    );
  }

  /** It has gone, as this process knows by itself. */
  over(how: 'left' | 'unknown'): void {
    this.#end(how);
  }

  #watched(watch: Watch): void {
    if (this.#isOver) return watch.remove();
    this.#watch = watch;
    void watch.fired.then((event) => {
      this.#watch = undefined;
      if (this.#isOver) return;
      // What fires with a reconnect comes in no order, and says nothing of who else has left: the line is listed first.
      if (event === 'deleted') this.#end('left');
      else if (event === 'changed') this.watch();
      else this.#end('unknown');
    });
  }

  #unwatched(error: unknown): void {
    if (isKeeperError(error, 'noNode')) this.#end('left');
    else if (isConnectionLoss(error)) this.#end('unknown');
    else this.#end('refused', error);
  }

  #end(how: DepartureEnd, error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch?.remove();
    this.#onEnd(how);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    listeners.forEach((listener) => listener(error));
  }
}
