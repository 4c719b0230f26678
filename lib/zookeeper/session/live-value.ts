import type { Watch } from './requests.js';

/** What is read together with a watch, and is read again only once the watch has fired. */
export class LiveValue<T extends { readonly watch: Watch }> {
  readonly #ask: () => Promise<T>;
  #current: T | undefined;
  #isOver = false;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** @throws what asking for it does, and leaves no watch then */
  async read(): Promise<T> {
    if (this.#current) return this.#current;
    const current = await this.#ask();
    // Who asked for it may have gone meanwhile.
    if (this.#isOver) current.watch.remove();
    else this.#current = current;
    void current.watch.fired.then(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return current;
  }

  /** Takes the watch back, now or as soon as it is set. */
  dispose(): void {
    this.#isOver = true;
    this.#current?.watch.remove();
    this.#current = undefined;
  }
}
