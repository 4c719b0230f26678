import { Random } from '../../robustness/random.js';
import { drawFault } from '../plan/swarm.js';
import { FAULT_KINDS } from '../plan/plan.js';
import type { FaultPlan } from '../plan/plan.js';
import type { Examined, PlanOfTraffic } from './examine.js';

/** The maximum number of kept plans. The oldest is dropped first. */
const MOST_PLANS = 500;
const FRESH_SHARE = 0.3;

/**
 * Keeps the plans that reached something which no plan before them had reached. Makes new plans of them by changing the
 * times, durations and kinds of faults. A run reports what it reached: which events followed each other under which
 * faults.
 */
export class Guide {
  readonly #isOn: boolean;
  readonly #reached = new Set<number>();
  readonly #plans: PlanOfTraffic[] = [];

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** The number of different things that were reached. */
  get reached(): number {
    return this.#reached.size;
  }

  examined({ reached }: Examined, plan: PlanOfTraffic): void {
    if (!this.#isOn) return;
    const before = this.#reached.size;
    for (const one of reached) this.#reached.add(one);
    if (this.#reached.size === before) return;
    this.#plans.push(plan);
    if (this.#plans.length > MOST_PLANS) this.#plans.shift();
  }

  /** Returns a kept plan with random changes, or `undefined` if a new one is to be drawn. */
  change(seed: number): PlanOfTraffic | undefined {
    const random = new Random(`${seed}/change`);
    if (this.#plans.length === 0 || random.chance(FRESH_SHARE)) return undefined;
    const plan = random.pick(this.#plans);
    const faults = changed(plan, random).sort((one, other) => one.atMs - other.atMs);
    // Half of the time the traffic changes too, because its random choices depend on the seed.
    return { ...plan, faults, ...(random.chance(0.5) && { seed, traffic: { ...plan.traffic, seed } }) };
  }
}

function changed(plan: PlanOfTraffic, random: Random): FaultPlan[] {
  let faults = [...plan.faults];
  for (let changes = random.int(1, 3); changes > 0; changes--) faults = changedOnce(faults, plan, random);
  return faults;
}

function changedOnce(faults: readonly FaultPlan[], { world, seconds }: PlanOfTraffic, random: Random): FaultPlan[] {
  const at = random.int(0, faults.length);
  const fault = faults[at];
  const atMs = random.int(0, seconds * 1_000 - 1);
  if (!fault) return [...faults, drawFault(random, random.pick(FAULT_KINDS), world, atMs)];
  const others = faults.filter((other) => other !== fault);
  switch (random.int(0, 3)) {
    case 0:
      return others;
    case 1:
      return [...others, { ...fault, atMs }];
    case 2:
      return [...others, { ...fault, forMs: Math.max(1, Math.round(fault.forMs * random.pick([0.5, 0.9, 1.1, 2]))) }];
    default:
      // A second fault a moment after this one. Together they may have effects that neither has alone.
      return [...faults, drawFault(random, random.pick(FAULT_KINDS), world, fault.atMs + random.int(0, fault.forMs))];
  }
}
