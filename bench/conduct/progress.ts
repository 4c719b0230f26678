import type { Result } from './result.js';

/** Reports the completed turn and the remaining time, because a full run takes long. */
export class Progress {
  readonly #startedAt = performance.now();
  readonly #turns: number;
  #done = 0;

  constructor(turns: number) {
    this.#turns = turns;
  }

  show({ shape, contender, round, figures, overlaps, failure }: Result): void {
    this.#done++;
    const rate = figures.rate === undefined ? '' : `  ${figures.rate.toFixed(0)}/s`;
    const overlapping = overlaps > 0 ? `  ${overlaps} OVERLAPS` : '';
    const failed = failure === undefined ? '' : `  FAILED: ${failure}`;
    const turn = `${shape}  ${contender}  round ${round + 1}${rate}${overlapping}${failed}`;
    console.error(`[${this.#done}/${this.#turns}, ${this.#left()} left] ${turn}`);
  }

  #left(): string {
    const seconds = (((performance.now() - this.#startedAt) / this.#done) * (this.#turns - this.#done)) / 1_000;
    return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
  }
}
