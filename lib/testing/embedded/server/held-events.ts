/** Notifications that are held back from their watchers. */
export class HeldEvents {
  readonly #held = new Map<string, (() => void)[]>();

  /** Holds the events of this path back until the returned function is called. */
  hold(path: string): () => void {
    this.#held.set(path, this.#held.get(path) ?? []);
    return () => this.#release(path);
  }

  /** Whether the event is held back. If so, `tell` is called later. */
  keeps(path: string, tell: () => void): boolean {
    const kept = this.#held.get(path);
    kept?.push(tell);
    return kept !== undefined;
  }

  releaseAll(): void {
    for (const path of this.#held.keys()) this.#release(path);
  }

  #release(path: string): void {
    const kept = this.#held.get(path) ?? [];
    this.#held.delete(path);
    for (const tell of kept) tell();
  }
}
