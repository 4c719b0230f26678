import type { SimulationHistory } from '../model/history.js';

/** The intervals in which a history shows trouble: injected faults, and answers which say that servers were away. */
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

  /** Whether there was no trouble in the interval, nor shortly before. */
  isCalm(from: number, until: number, calmMs: number): boolean {
    return !this.#stretches.some((one) => one.from <= until && one.until + calmMs >= from);
  }
}
