import type { Dispose } from '../../async/abort.js';

/** The znodes that this session owns and somebody relies on, and whom to tell when one turns out to be gone. */
export class SessionNodes {
  readonly #onGone = new Map<string, () => void>();

  attend(path: string, onGone: () => void): Dispose {
    this.#onGone.set(path, onGone);
    return () => {
      if (this.#onGone.get(path) === onGone) this.#onGone.delete(path);
    };
  }

  /** Up to `count` paths, the least recently taken first. */
  take(count: number): string[] {
    const taken = [...this.#onGone].slice(0, count);
    for (const [path, onGone] of taken) {
      this.#onGone.delete(path);
      this.#onGone.set(path, onGone);
    }
    return taken.map(([path]) => path);
  }

  gone(path: string): void {
    const tell = this.#onGone.get(path);
    this.#onGone.delete(path);
    tell?.();
  }
}
