import { orAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { deferred } from '../../async/deferred.js';
import type { Line } from './line.js';
import type { Standing } from './standing.js';

/** Those of a line whom one contender watches. */
export class WatchedPredecessors {
  readonly #line: Line;
  readonly #watched = new Map<string, Dispose>();
  #news = deferred();

  constructor(line: Line) {
    this.#line = line;
  }

  /** Watches these and nobody else from now on; the watches of those who are in both stay. */
  only(predecessors: readonly Standing[]): void {
    const names = new Set(predecessors.map(({ name }) => name));
    names.forEach((name) => this.#watch(name));
    for (const [name, dispose] of this.#watched) {
      if (names.has(name)) continue;
      this.#watched.delete(name);
      dispose();
    }
  }

  /** Resolves when there was news of any of them since it resolved last. @throws why one can not be watched, `signal.reason` */
  async news(signal: AbortSignal): Promise<void> {
    await orAbort(this.#news.promise, signal);
    this.#news = deferred();
  }

  dispose(): void {
    this.only([]);
  }

  #watch(name: string): void {
    if (this.#watched.has(name)) return;
    const dispose = this.#line.attend(name, (error) => {
      this.#watched.delete(name);
      if (error === undefined) return this.#news.resolve();
      this.#news.promise.catch(() => {});
      this.#news.reject(error);
    });
    this.#watched.set(name, dispose);
  }
}
