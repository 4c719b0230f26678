import type { PlanOfTraffic } from './examine.js';

/** Whether the plan still shows the finding. */
export type Shows = (plan: PlanOfTraffic) => Promise<boolean>;

/**
 * Makes a plan smaller for as long as it shows the same: fewer faults, programs and applications, less time, a calmer
 * world. Each step is one run. `progress` is called with every smaller plan that still showed it.
 */
export async function shrink(
  plan: PlanOfTraffic,
  shows: Shows,
  progress: (smaller: PlanOfTraffic) => void = () => {},
): Promise<PlanOfTraffic> {
  let smallest = plan;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const smaller of candidatesOf(smallest)) {
      if (!(await shows(smaller))) continue;
      smallest = smaller;
      isSmaller = true;
      progress(smallest);
      break;
    }
  }
  return smallest;
}

/** The smaller plans to try, those that leave out the most first. */
function* candidatesOf(plan: PlanOfTraffic): Generator<PlanOfTraffic> {
  yield* withLessTime(plan);
  yield* withFewerFaults(plan);
  yield* withFewerPrograms(plan);
  yield* withFewerApps(plan);
  if (plan.without.length > 0) yield { ...plan, without: [] };
  yield* inCalmerWorlds(plan);
}

const LEAST_SECONDS = 2;

function* withLessTime(plan: PlanOfTraffic): Generator<PlanOfTraffic> {
  for (const share of [0.25, 0.5, 0.8]) {
    const seconds = Math.floor(plan.seconds * share);
    if (seconds < LEAST_SECONDS) continue;
    yield { ...plan, seconds, faults: plan.faults.filter(({ atMs }) => atMs < seconds * 1_000) };
  }
}

function* withFewerFaults(plan: PlanOfTraffic): Generator<PlanOfTraffic> {
  const { faults } = plan;
  for (let size = Math.ceil(faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < faults.length; from += size) {
      yield { ...plan, faults: [...faults.slice(0, from), ...faults.slice(from + size)] };
    }
  }
}

function* withFewerPrograms(plan: PlanOfTraffic): Generator<PlanOfTraffic> {
  const programs = Object.entries(plan.traffic.programs);
  const withPrograms = (rest: typeof programs) => ({
    ...plan,
    traffic: { ...plan.traffic, programs: Object.fromEntries(rest) },
  });
  for (const [name, count] of programs) {
    if (programs.length > 1) yield withPrograms(programs.filter(([other]) => other !== name));
    if (count > 1) yield withPrograms(programs.map((one) => (one[0] === name ? [name, count - 1] : one)));
  }
  const kinds = Object.entries(plan.traffic.locks.kinds);
  for (const [kind] of kinds) {
    if (kinds.length === 1) return;
    const locks = { ...plan.traffic.locks, kinds: Object.fromEntries(kinds.filter(([other]) => other !== kind)) };
    yield { ...plan, traffic: { ...plan.traffic, locks } };
  }
}

function* withFewerApps(plan: PlanOfTraffic): Generator<PlanOfTraffic> {
  const apps = plan.world.apps - 1;
  if (apps < 1) return;
  const faults = plan.faults.filter(({ app = 0 }) => app < apps);
  yield { ...plan, faults, world: { ...plan.world, apps }, traffic: { ...plan.traffic, barrierCount: 1 } };
}

function* inCalmerWorlds({ world, ...plan }: PlanOfTraffic): Generator<PlanOfTraffic> {
  const calm = {
    servers: 3,
    callbackUs: 0,
    clockRates: world.clockRates.map(() => 1),
    wallSkewsMs: world.wallSkewsMs.map(() => 0),
    link: { meanUs: 200, slowShare: 0, slowUs: 0 },
    peerDelayMs: [0, 0],
    electionMs: [1, 1],
    containerCheckIntervalMs: 60_000,
  } as const;
  for (const [what, value] of Object.entries(calm)) {
    const before = Reflect.get(world, what) as unknown;
    if (JSON.stringify(before) !== JSON.stringify(value)) yield { ...plan, world: { ...world, [what]: value } };
  }
}
