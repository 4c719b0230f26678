import type { SimulationHistory } from '../model/history.js';

/** Where a history shows that not everything worked: what was broken on purpose, and answers that say that servers were away. */
export class Trouble {
  readonly #stretches: readonly { readonly from: number; readonly until: number }[];

  constructor({ faults, calls, attempts }: Pick<SimulationHistory, 'faults' | 'calls' | 'attempts'>) {
    const badCalls = calls
      .filter(({ answer }) => answer?.outcome === 'unknown' || answer?.outcome === 'lost')
      .map(({ calledAt, returnedAt = calledAt }) => ({ from: calledAt, until: returnedAt }));
    const badAttempts = attempts
      .filter(({ outcome }) => outcome === 'unavailable' || outcome === 'lost')
      .map(({ askedAt, answeredAt = askedAt }) => ({ from: askedAt, until: answeredAt }));
    this.#stretches = [...faults, ...badCalls, ...badAttempts];
  }

  /** Whether nothing of it was there from then until then, nor shortly before. */
  isCalm(from: number, until: number, calmMs: number): boolean {
    return !this.#stretches.some((one) => one.from <= until && one.until + calmMs >= from);
  }
}
