import { ProgressLine } from '../../robustness/report/progress-line.js';
import { drawPlan } from '../plan/draw-plan.js';
import type { Focus } from '../plan/focus.js';
import type { Examined, PlanOfTraffic } from './examine.js';
import { Guide } from './guide.js';
import { Replays } from './replays.js';
import { Searchers } from './searchers.js';
import type { Code } from './zookeeper-backend.js';

export interface SearchOptions {
  readonly seed: number;
  readonly seconds: number;
  /** The total of simulated time after which the search ends, in milliseconds. */
  readonly simulatedMs: number;
  readonly focus: Focus;
  readonly processes: number;
  readonly replayEvery: number;
  readonly guided: boolean;
  /** Whether the search has found what it was looking for. If so, no further plan begins. */
  readonly isEnough: (examined: Examined) => boolean;
  /** Whether findings are expected, and not printed. */
  readonly isQuiet?: boolean;
}

export interface SearchResult {
  readonly seeds: number;
  readonly findings: number;
  readonly simulatedMs: number;
  readonly callbacks: number;
  readonly compared: number;
  readonly elapsedMs: number;
  readonly smallestMarginMs: number;
}

/** Examines plan after plan in several processes, until enough time was simulated. */
export async function search(code: Code, options: SearchOptions): Promise<SearchResult> {
  const { simulatedMs: wantedMs, isEnough, isQuiet = false } = options;
  const startedAt = performance.now();
  const replays = new Replays(options.replayEvery);
  const guide = new Guide(options.guided);
  const line = new ProgressLine('simulating');
  const result = { seeds: 0, findings: 0, simulatedMs: 0, callbacks: 0, smallestMarginMs: Infinity };
  let nextSeed = options.seed;
  let [isOver, plannedMs] = [false, 0];

  const next = (): PlanOfTraffic | undefined => {
    if (isOver) return undefined;
    const again = replays.next();
    if (again) return again;
    if (Math.max(result.simulatedMs, plannedMs) >= wantedMs) return undefined;
    const seed = nextSeed++;
    const plan = guide.change(seed) ?? drawPlan(seed, options.seconds, options.focus);
    plannedMs += plan.seconds * 1_000;
    return plan;
  };
  const examined = (one: Examined, plan: PlanOfTraffic): void => {
    const isFirst = !replays.isSecond(plan);
    const different = replays.examined(one, plan);
    const findings = [...(isFirst ? one.findings : []), ...(different ? [different] : [])];
    if (isFirst) count(one);
    if (isFirst) guide.examined(one, plan);
    result.findings += findings.length;
    const hours = result.simulatedMs / 3_600_000;
    line.show(
      `${hours.toFixed(2)} hours, ${result.seeds} seeds, ${result.findings} findings`,
      String(Math.floor(hours)),
    );
    if (!isQuiet && findings.length > 0) line.clear();
    if (!isQuiet) for (const { check, message } of findings) console.log(`seed ${one.seed}: ${check}: ${message}`);
    isOver ||= isEnough(one);
  };
  const count = (one: Examined): void => {
    result.seeds++;
    result.simulatedMs += one.simulatedMs;
    result.callbacks += one.callbacks;
    result.smallestMarginMs = Math.min(result.smallestMarginMs, one.smallestMarginMs);
  };
  await new Searchers(code, options.processes).examineAll(next, examined);
  line.clear();
  return { ...result, compared: replays.compared, elapsedMs: performance.now() - startedAt };
}
