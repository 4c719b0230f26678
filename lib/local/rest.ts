import { nextTurn } from '../async/loop-turn.js';
import type { LocalTenure } from './local-tenure.js';

/** The pause of a tenure whose next caller has to wait for the next turn of the event loop. */
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

  #over(): void {
    const tenure = this.#tenure;
    this.#isTimed = false;
    this.#tenure = undefined;
    if (tenure) this.#onOver(tenure);
  }
}
