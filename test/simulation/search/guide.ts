import { Random } from '../../robustness/random.js';
import { drawFault } from '../plan/swarm.js';
import { FAULT_KINDS } from '../plan/plan.js';
import type { FaultPlan } from '../plan/plan.js';
import type { Examined, PlanOfTraffic } from './examine.js';

/** How many plans are kept; the oldest is forgotten first. */
const MOST_PLANS = 500;
const FRESH_SHARE = 0.3;

/**
 * Keeps the plans that reached something which no plan before them had reached, and makes new plans of them by changing
 * when, how long and what is broken. What was reached is told by the run: which events followed each other under which faults.
 */
export class Guide {
  readonly #isOn: boolean;
  readonly #reached = new Set<number>();
  readonly #plans: PlanOfTraffic[] = [];

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** How many different things were reached. */
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

  /** A plan that was kept, changed by chance; nothing where a new one is to be drawn. */
  change(seed: number): PlanOfTraffic | undefined {
    const random = new Random(`${seed}/change`);
    if (this.#plans.length === 0 || random.chance(FRESH_SHARE)) return undefined;
    const plan = random.pick(this.#plans);
    const faults = changed(plan, random).sort((one, other) => one.atMs - other.atMs);
    // The traffic is another one half of the time: what it does by chance hangs on the seed.
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
      // A second fault a moment after this one: together they may do what neither does alone.
      return [...faults, drawFault(random, random.pick(FAULT_KINDS), world, fault.atMs + random.int(0, fault.forMs))];
  }
}
