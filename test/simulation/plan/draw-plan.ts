import { Random } from '../../robustness/random.js';
import { SHORTCUTS } from '../../support/shortcuts.js';
import type { Shortcut } from '../../support/shortcuts.js';
import { PERMITS_KEY } from '../traffic/keys.js';
import type { ProgramName, TrafficOrders } from '../traffic/orders.js';
import type { Focus } from './focus.js';
import type { Plan, WorldPlan } from './plan.js';
import { drawFaults, drawWorld } from './swarm.js';

/** The traffic of a plan: the same for all processes of a run. */
export type TrafficPlan = Omit<TrafficOrders, 'connectString' | 'sessionTimeoutMs'>;

/** Draws the plan of a seed. */
export function drawPlan(seed: number, most: number, focus: Focus = {}): Plan<TrafficPlan> {
  const seconds = focus.isBusy ? Math.min(most, BUSY_SECONDS) : most;
  const world = drawWorld(new Random(`${seed}/world`), focus);
  return {
    seed,
    seconds,
    world,
    faults: drawFaults(new Random(`${seed}/faults`), world, seconds, focus),
    without: drawShortcutsLeftOut(new Random(`${seed}/shortcuts`)),
    traffic: drawTraffic(seed, world, focus),
  };
}

/** A busy plan has so many events that it is limited to this duration. */
const BUSY_SECONDS = 40;

const PROGRAMS: readonly ProgramName[] = [
  'downgrade',
  'warm',
  'segments',
  'permits',
  'campaign',
  'leader',
  'cron',
  'stock',
  'queue',
  'barrier',
  'doubleBarrier',
  'values',
  'looks',
  'crowd',
  'sets',
];

const BUSY_KEYS = [
  ['stock'],
  ['stock', 'prices'],
  ['stock', 'stock/coupons', 'prices'],
  // Keys that look like contenders, or like parts of a semaphore.
  ['chain', 'chain/block-0000000000', 'chain/lock-0000000000'],
  [`${PERMITS_KEY}/locks`, `${PERMITS_KEY}/leases`],
];

/** The pauses of clients in a busy plan, in milliseconds. */
const SHORT_PAUSES_MS = [
  [20, 300],
  [200, 2_000],
] as const;

/** The pause of a client in other plans, for each client that exists. So many clients are about as busy as few. */
const PAUSES_MS_A_CLIENT = [
  [10, 150],
  [100, 1_000],
  [100, 1_000],
  [300, 1_500],
  [300, 3_000],
  [600, 3_000],
] as const;

const CROWD_KINDS = ['readers', 'waiters', 'readers and writers', 'tries', 'a waiter and tries'] as const;

/** The numbers of concurrent callers. One turn of the event loop has room for 256. */
const CROWD_SIZES = [
  [2, 3],
  [6, 20],
  [2, 20, 300],
];

/**
 * Draws how busy the applications are, among other things. Even the busiest traffic is slow for a computer, so that
 * many hours can be simulated.
 */
function drawTraffic(seed: number, world: WorldPlan, focus: Focus): TrafficPlan {
  const { sessionTimeoutMs: session, apps } = world;
  const random = new Random(`${seed}/traffic`);
  const programs = drawPrograms(random, focus);
  const pauseMs = drawPause(random, apps * Object.values(programs).reduce((sum, count) => sum + count, 0), focus);
  const services = focus.services ?? random.pick([1, 1, 1, 2]);
  return {
    seed,
    basePath: '/locks',
    connectTimeoutMs: random.pick([session, 3 * session]),
    releaseTimeoutMs: 1_000,
    module: drawModule(random, session, focus.localLine),
    services,
    programs,
    pace: { lookEveryMs: random.pick([100, 500, 1_000]), noteEveryMs: 1_000 },
    locks: {
      busyKeys: focus.busyKeys ?? random.pick(BUSY_KEYS),
      busyMs: random.pick([
        [0, 20],
        [10, 200],
      ] as const),
      readOnlyKeys: ['prices/catalogue'],
      readOnlyShare: 0.1,
      readOnlyMs: [5, 100],
      keptKeys: ['orders/1', 'orders/2'],
      keptShare: focus.keptShare ?? random.pick([0, 0.1, 0.4]),
      keptMs: [session / 2, 3 * session],
      keptWaitMs: 3 * session,
      kinds: drawKinds(random, focus.kinds),
      waitsMs: [30, 300, 2 * session],
      abortAfterMs: [0, 200],
      pauseMs,
    },
    pauseMs,
    workMs: [0, 200],
    waitsMs: [50, 500, 2 * session],
    epochMs: random.pick([5_000, 20_000]),
    tickMs: random.pick([2_000, 10_000]),
    barrierCount: Math.min(2, Math.floor(apps / services)),
    crowdKinds: focus.crowdKinds ?? CROWD_KINDS,
    crowdSizes: focus.crowdSizes ?? random.pick(CROWD_SIZES),
    finalLimitMs: 10 * session + 30_000,
  };
}

/** Mostly none, one or two of the shortcuts, or all of them: the plain recipes must be right, too. */
function drawShortcutsLeftOut(random: Random): readonly Shortcut[] {
  return random.sample(SHORTCUTS, random.pick([0, 0, 0, 1, 2, SHORTCUTS.length]));
}

function drawPause(random: Random, clients: number, { isBusy = false }: Focus): readonly [number, number] {
  if (isBusy) return random.pick(SHORT_PAUSES_MS);
  const [least, most] = random.pick(PAUSES_MS_A_CLIENT);
  return [least * clients, most * clients];
}

function drawPrograms(random: Random, { programs: least, clients = 1 }: Focus): TrafficPlan['programs'] {
  const others = random.sample(PROGRAMS, random.int(0, 3));
  const programs: Partial<Record<ProgramName, number>> = {};
  for (const name of least ?? ['locks', ...others]) programs[name] = Math.max(clients, random.pick([1, 1, 2]));
  return programs;
}

function drawModule(random: Random, session: number, isLined?: boolean): TrafficPlan['module'] {
  const isDrawn = random.chance(0.6);
  const localLine = isLined ?? isDrawn;
  const keepMs = localLine ? random.pick([0, 0, session, 10 * session]) : 0;
  return { waitMs: 2 * session, drainTimeoutMs: random.pick([0, 1_000]), localLine, keepMs };
}

/** The additional weight of a kind that the focus names. */
const WANTED_WEIGHT = 6;

function drawKinds(random: Random, least: readonly string[] = []): TrafficPlan['locks']['kinds'] {
  const all = {
    mutex: 3,
    read: 3,
    write: 2,
    try: 2,
    aborted: 2,
    using: 2,
    decorated: 3,
    single: 1,
    multi: 2,
    revoke: 0.5,
  };
  const kinds = Object.entries(all).filter(([name]) => random.chance(0.7) || name === 'mutex' || least.includes(name));
  const weighted = kinds.map(
    ([name, weight]) => [name, least.includes(name) ? weight + WANTED_WEIGHT : weight] as const,
  );
  return Object.fromEntries(weighted) as TrafficPlan['locks']['kinds'];
}
