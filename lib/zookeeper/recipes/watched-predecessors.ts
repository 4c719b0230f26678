import { onAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { deferred } from '../../async/deferred.js';
import type { Line } from './line.js';
import type { Standing } from './standing.js';

/** Those of a line whom one contender watches. */
export class WatchedPredecessors {
  readonly #line: Line;
  readonly #watched = new Map<string, Dispose>();
  readonly #unlisten: Dispose;
  #news = deferred();
  #failure: { readonly error: unknown } | undefined;

  constructor(line: Line, signal: AbortSignal) {
    this.#line = line;
    this.#unlisten = onAbort(signal, (reason) => this.#fail(reason));
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

  /** Resolves when there was news of any of them since it resolved last. @throws why one can not be watched, the signal's reason */
  async news(): Promise<void> {
    await this.#news.promise;
    if (this.#failure) throw this.#failure.error;
    this.#news = deferred();
  }

  dispose(): void {
    this.#unlisten();
    this.#watched.forEach((undo) => undo());
    this.#watched.clear();
  }

  #watch(name: string): void {
    if (this.#watched.has(name)) return;
    const dispose = this.#line.attend(name, (error) => {
      this.#watched.delete(name);
      if (error === undefined) this.#news.resolve();
      else this.#fail(error);
    });
    this.#watched.set(name, dispose);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#news.resolve();
  }
}
