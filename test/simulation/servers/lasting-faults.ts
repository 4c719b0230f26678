/** Faults of one server that overlap. The first of a kind begins it, and the last one ends it. */
export class LastingFaults {
  readonly #lasting = new Map<string, number>();

  /** @returns ends this fault; `end` is called when no other of the same name lasts */
  begin(name: string, begin: () => void, end: () => void): () => void {
    const others = this.#lasting.get(name) ?? 0;
    this.#lasting.set(name, others + 1);
    if (others === 0) begin();
    return () => {
      const left = (this.#lasting.get(name) ?? 0) - 1;
      this.#lasting.set(name, left);
      if (left === 0) end();
    };
  }
}
