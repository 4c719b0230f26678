import type { Watch } from './requests.js';

/** A value that is read together with a watch. It is read again only after the watch has fired. */
export class LiveValue<T extends { readonly watch: Watch }> {
  readonly #ask: () => Promise<T>;
  #current: T | undefined;
  #isOver = false;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** @throws what the read throws; then no watch is left */
  async read(): Promise<T> {
    if (this.#current) return this.#current;
    const current = await this.#ask();
    // The value may have been disposed during the read.
    if (this.#isOver) current.watch.remove();
    else this.#current = current;
    void current.watch.fired.then(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return current;
  }

  /** Removes the watch, now or as soon as it is set. */
  dispose(): void {
    this.#isOver = true;
    this.#current?.watch.remove();
    this.#current = undefined;
  }
}
