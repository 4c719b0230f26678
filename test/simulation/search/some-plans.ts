import { drawPlan } from '../plan/draw-plan.js';
import type { FaultKind, FaultPlan } from '../plan/plan.js';
import type { Examined, PlanOfTraffic } from './examine.js';

/** A plan for tests, with these faults: one a second. */
export function somePlan(seed: number, kinds: readonly FaultKind[] = [], seconds = 60): PlanOfTraffic {
  const faults = kinds.map((kind, at): FaultPlan => ({ kind, atMs: 1_000 * at, forMs: 500, app: 0 }));
  return { ...drawPlan(seed, seconds), faults };
}

/** The results of an ordinary run. */
export function someRun(seed: number, changes: Partial<Examined> = {}): Examined {
  const counts = {
    simulatedMs: 1_000,
    callbacks: 10,
    holds: 1,
    faults: 0,
    smallestMarginMs: 100,
    kinds: {},
    connections: 2,
  };
  return { seed, findings: [], hash: `hash of ${seed}`, reached: [], ...counts, ...changes };
}
