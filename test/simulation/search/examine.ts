import type { Finding } from '../../robustness/validate/finding.js';
import { FINAL_MODES, keysOf } from '../../robustness/traffic/orders.js';
import { simulate } from '../cluster/simulation.js';
import type { Run, SimulatedBackend } from '../cluster/simulation.js';
import { withoutLateTimers } from '../model/late-timers.js';
import { keptApart } from '../model/services.js';
import { contendersOf } from '../model/contenders.js';
import { checkWakeUps } from '../judges/wake-ups.js';
import { judge } from '../judges/judge.js';
import type { Bounds } from '../judges/judge.js';
import type { Entry } from '../model/entry.js';
import type { SimulationHistory } from '../model/history.js';
import { readHistory } from '../model/read-history.js';
import type { TrafficPlan } from '../plan/draw-plan.js';
import type { Plan } from '../plan/plan.js';
import type { TrafficOrders } from '../traffic/orders.js';

export type TrafficRun = Run<Entry>;
export type PlanOfTraffic = Plan<TrafficPlan>;
export type Backend = SimulatedBackend<TrafficOrders, Entry>;

/** The results of a run. Plain data, because it is sent from one process to another. */
export interface Examined {
  readonly seed: number;
  readonly findings: readonly Finding[];
  readonly hash: string;
  readonly simulatedMs: number;
  readonly callbacks: number;
  readonly holds: number;
  readonly faults: number;
  readonly smallestMarginMs: number;
  /** The number of notes of each kind: faults as `fault reset`, entries of an application as `ended lost`. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly connections: number;
  /** Numbers that identify what the run has reached, see `Guide`. */
  readonly reached: readonly number[];
}

/** The checks that hold even when the servers have lost their data: nobody is stuck, and nothing is left behind. */
const AFTER_LOST_DATA: readonly string[] = ['liveness', 'leftovers', 'processes'];

/** Runs a plan, and judges its history. With `keep`, everything that happened is kept as text. */
export async function examine(
  plan: PlanOfTraffic,
  backend: Backend,
  keep = false,
): Promise<{ readonly run: TrafficRun; readonly history: SimulationHistory; readonly examined: Examined }> {
  // The servers' address and the session timeout are added when the applications start.
  const run = await simulate(plan as Plan<TrafficOrders>, backend, keep);
  const history = historyOf(plan, run);
  const { hash, simulatedMs, callbacks, smallestMarginMs, faults, reached, kinds, connections } = run;
  const all = [
    ...run.findings,
    ...judge(history, boundsOf(plan)),
    ...checkWakeUps(run.servers.wakeUps, run.servers.made, history),
  ];
  const hasLostData = faults.some(({ name }) => name === 'data-gone');
  const findings = hasLostData ? all.filter(({ check }) => AFTER_LOST_DATA.includes(check)) : all;
  const counts = { holds: history.holds.length, faults: faults.length, kinds, connections };
  return {
    run,
    history,
    examined: { seed: plan.seed, findings, hash, simulatedMs, callbacks, smallestMarginMs, reached, ...counts },
  };
}

function historyOf({ seed, traffic, world }: PlanOfTraffic, run: TrafficRun): SimulationHistory {
  const { faults, ends, leftovers, warnings } = run;
  const finalsDue = traffic.programs.locks ? FINAL_MODES.length * keysOf(traffic.locks).length * world.apps : 0;
  const history = readHistory(run.recorded, { seed, faults, ends, leftovers, warnings, finalsDue, contenders: [] });
  const holds = withoutLateTimers(history.holds, faults, world.sessionTimeoutMs / 10 + 50);
  const contenders = contendersOf(run.servers.made, holds);
  return keptApart({ ...history, holds, contenders }, traffic.services);
}

/**
 * The time limits of a run: for a request without a reply, the release after it, and a session that has to end first.
 */
function boundsOf({ world, traffic }: PlanOfTraffic): Bounds {
  const { sessionTimeoutMs, tickTimeMs, electionMs, syncLimitMs } = world;
  const calmMs = 3 * sessionTimeoutMs + tickTimeMs + electionMs[1] + syncLimitMs[1] + 5_000;
  const graceMs = calmMs + traffic.connectTimeoutMs + traffic.releaseTimeoutMs;
  const turnMs = 75 + (4 * (world.link.meanUs + world.link.slowUs)) / 1_000;
  // A third of the session for the silence, and some round trips for a new connection.
  const longestUs = world.link.meanUs + (world.link.slowShare > 0 ? world.link.slowUs : 0);
  const canFailOver = 16 * longestUs < (sessionTimeoutMs / 3) * 1_000;
  // Two round trips, and the pauses between them, prove a session. Where they take longer, leases are lost without a fault.
  const provenMs = (4 * longestUs) / 1_000 + sessionTimeoutMs * (1 / 4 + 1 / 6);
  const keepsLeases = provenMs < 0.98 * sessionTimeoutMs - 15;
  const idleMs = 1_000 + 4 * turnMs;
  const ofProcesses = {
    canFailOver,
    keepsLeases,
    // The hold of a holder that only listens was recorded at the look before the last one.
    lookMs: 3 * traffic.pace.lookEveryMs + 100,
    isShared: traffic.module.localLine,
    noticeMs: 2 * sessionTimeoutMs,
  };
  return {
    ...ofProcesses,
    // The leader is seen at its next poll.
    leadMs: calmMs + traffic.pauseMs[1],
    calmMs,
    graceMs,
    turnMs,
    idleMs,
    callMs: Math.max(...traffic.waitsMs, traffic.module.waitMs),
  };
}
