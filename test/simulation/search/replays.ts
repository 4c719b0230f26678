import type { Finding } from '../../robustness/validate/finding.js';
import type { Examined, PlanOfTraffic } from './examine.js';

/** Runs some plans twice: the second run must be the first one, byte for byte. */
export class Replays {
  readonly #every: number;
  readonly #first = new Map<PlanOfTraffic, string>();
  readonly #due: PlanOfTraffic[] = [];
  #count = 0;
  /** How many plans were run twice. */
  compared = 0;

  /** @param every so many plans; 0: none */
  constructor(every: number) {
    this.#every = every;
  }

  /** A plan that is to be run again, if there is one. */
  next(): PlanOfTraffic | undefined {
    return this.#due.shift();
  }

  /** `undefined` unless this was the second run and differs from the first. */
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
