import { nextTurn } from '../async/loop-turn.js';
import type { LocalTenure } from './local-tenure.js';

/** The pause of a tenure whose next caller has to wait: for the next turn of the event loop, or to know who else waits. */
export class Rest {
  readonly #onOver: (tenure: LocalTenure) => void;
  #tenure: LocalTenure | undefined;
  #isTimed = false;

  constructor(onOver: (tenure: LocalTenure) => void) {
    this.#onOver = onOver;
  }

  isOf(tenure: LocalTenure): boolean {
    return this.#tenure === tenure;
  }

  /** Of several in one turn, only the last one still matters then. */
  begin(tenure: LocalTenure): void {
    this.#tenure = tenure;
    if (this.#isTimed) return;
    this.#isTimed = true;
    void nextTurn().then(() => this.#over());
  }

  /** Until `end` is called. */
  hold(tenure: LocalTenure): void {
    this.#tenure = tenure;
  }

  end(tenure: LocalTenure): void {
    if (this.isOf(tenure)) this.#end();
  }

  #over(): void {
    this.#isTimed = false;
    this.#end();
  }

  #end(): void {
    const tenure = this.#tenure;
    this.#tenure = undefined;
    if (tenure) this.#onOver(tenure);
  }
}
