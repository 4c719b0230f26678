import type { Finding } from '../../robustness/validate/finding.js';
import type { Examined, PlanOfTraffic } from './examine.js';

/** Runs some plans twice. The second run must equal the first one, byte for byte. */
export class Replays {
  readonly #every: number;
  readonly #first = new Map<PlanOfTraffic, string>();
  readonly #due: PlanOfTraffic[] = [];
  #count = 0;
  /** The number of plans that were run twice. */
  compared = 0;

  /** @param every the interval of plans to repeat; 0: none */
  constructor(every: number) {
    this.#every = every;
  }

  /** The next plan to run again, if there is one. */
  next(): PlanOfTraffic | undefined {
    return this.#due.shift();
  }

  /** Returns a finding if this was the second run and differs from the first; otherwise `undefined`. */
  examined({ hash }: Examined, plan: PlanOfTraffic): Finding | undefined {
    const first = this.#first.get(plan);
    if (first === undefined) return this.#remember(plan, hash);
    this.#first.delete(plan);
    this.compared++;
    if (first === hash) return undefined;
    const message = `seed ${plan.seed} was not the same the second time: ${first.slice(0, 12)} and ${hash.slice(0, 12)}`;
    return { check: 'replay', message, records: [] };
  }

  /** Whether this run is the second one of its plan. */
  isSecond(plan: PlanOfTraffic): boolean {
    return this.#first.has(plan);
  }

  #remember(plan: PlanOfTraffic, hash: string): undefined {
    if (this.#every === 0 || this.#count++ % this.#every > 0) return;
    this.#first.set(plan, hash);
    this.#due.push(plan);
  }
}
