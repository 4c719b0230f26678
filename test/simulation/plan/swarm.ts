import { Random } from '../../robustness/random.js';
import type { Focus } from './focus.js';
import { FAULT_KINDS } from './plan.js';
import type { FaultKind, FaultPlan, Range, WorldPlan } from './plan.js';

/**
 * Draws a seed's world. Each kind of fault is on or off, and sizes come from values that are far apart. If everything
 * happened everywhere, one fault would hide the other.
 */
export function drawWorld(random: Random, focus: Focus = {}): WorldPlan {
  const tickTimeMs = random.pick([200, 500, 500, 1_000, 1_000, 2_000, 2_000]);
  const sessionTimeoutMs = Math.min(10_000, Math.max(1_500, tickTimeMs * random.pick([4, 4, 10])));
  const servers = random.chance(0.2) ? 5 : 3;
  const drawnApps = random.pick([2, 2, 2, 3, 3, 4, 6]);
  const apps = focus.apps ?? drawnApps;
  const world = {
    servers,
    apps,
    sessionTimeoutMs,
    tickTimeMs,
    containerCheckIntervalMs: random.pick([20, 300, 5_000, 60_000]),
    link: {
      meanUs: random.pick([200, 2_000, 20_000]),
      slowShare: random.pick([0, 1 / 64, 1 / 8]),
      slowUs: random.pick([40_000, 400_000]),
    },
    peerDelayMs: random.pick<Range>([
      [0, 1],
      [1, 10],
      [0, 60],
    ]),
    electionMs: random.pick<Range>([
      [1, 50],
      [50, 600],
    ]),
    syncLimitMs: random.pick<Range>([
      [tickTimeMs, 2 * tickTimeMs],
      [2 * tickTimeMs, 5 * tickTimeMs],
      [sessionTimeoutMs, 2 * sessionTimeoutMs],
    ]),
    expiryDelayMs: random.pick<Range>([
      [0, 1],
      [0, tickTimeMs],
    ]),
    callbackUs: random.pick([0, 0, 20, 400]),
    clockRates: Array.from({ length: apps }, () => 1 + random.pick([-20, -10, 0, 0, 10, 20]) / 1_000),
    wallSkewsMs: Array.from({ length: apps }, () => random.pick([0, 0, 30, -900, 4_000])),
    ...focus.world,
  };
  return { ...world, serverTimeoutsMs: drawTimeouts(random, world, focus.hasUnlikeServers) };
}

/** Links have delays of 400 ms. */
const LEAST_SESSION_MS = 1_200;

/**
 * The longest timeout that each server grants. All are equal, as docs/guarantees.md assumes, unless the focus asks for
 * different ones.
 */
function drawTimeouts(
  random: Random,
  { servers, sessionTimeoutMs, tickTimeMs, peerDelayMs }: Omit<WorldPlan, 'serverTimeoutsMs'>,
  isUnlike?: boolean,
): number[] {
  const shares = isUnlike ? [1, 0.25] : [1];
  // A quarter of it is longer than half a tick plus the time that the leader's heartbeat takes.
  const leastMs = Math.max(LEAST_SESSION_MS, 2 * tickTimeMs + 16 * peerDelayMs[1]);
  return Array.from({ length: servers }, () =>
    Math.max(Math.min(leastMs, sessionTimeoutMs), Math.round(sessionTimeoutMs * random.pick(shares))),
  );
}

const ISOLATIONS: readonly FaultKind[] = ['freeze', 'cut-off'];

/** The frequency of kinds that take everything away, and would hide all others. */
const RARE: Partial<Record<FaultKind, number>> = { 'lost-quorum': 0.3, 'power-off': 0.4 };

export function drawFaults(
  random: Random,
  world: WorldPlan,
  seconds: number,
  { faults: only, isInCompany, ops }: Focus = {},
): FaultPlan[] {
  const kinds = only ?? FAULT_KINDS.filter((kind) => random.chance(0.4 * (RARE[kind] ?? 1)));
  if (kinds.length === 0 || (!only && random.chance(0.05))) return [];
  const everyMs = random.pick([1, 3, 10]) * world.sessionTimeoutMs;
  const faults: FaultPlan[] = [];
  for (let atMs = random.int(0, 2 * everyMs); atMs < seconds * 1_000; atMs += random.int(1, 2 * everyMs)) {
    const fault = drawFault(random, random.pick(kinds), world, atMs);
    faults.push(fault);
    if (kinds.length > 1 && random.chance(isInCompany ? 1 : 0.25))
      faults.push(drawCompanion(random, random.pick(kinds), world, fault));
  }
  return faults
    .filter((fault) => !isCutShort(fault, seconds) && !isSetBackAsleep(fault, faults, world))
    .map((fault) => (fault.op !== undefined && ops ? { ...fault, op: random.pick(ops) } : fault));
}

/**
 * All faults end with the plan. An isolation that is too short for the others to give the server up would be cut even
 * shorter.
 */
function isCutShort({ kind, atMs, forMs }: FaultPlan, seconds: number): boolean {
  return ISOLATIONS.includes(kind) && atMs + forMs >= seconds * 1_000;
}

/**
 * Whether a wall clock is set back around a sleep of its machine. docs/guarantees.md excepts a wall clock that is set
 * back between the same two readings between which its machine sleeps. A process that is stopped as well reads neither:
 * no stop is longer than this.
 */
function isSetBackAsleep(jump: FaultPlan, faults: readonly FaultPlan[], { sessionTimeoutMs }: WorldPlan): boolean {
  if (jump.kind !== 'wall-jump' || (jump.ms ?? 0) >= 0) return false;
  const aroundMs = 3 * sessionTimeoutMs;
  return faults.some(
    ({ kind, app, atMs, forMs }) =>
      kind === 'suspend' && app === jump.app && jump.atMs > atMs - aroundMs && jump.atMs < atMs + forMs + aroundMs,
  );
}

/** Momentary faults, such as a reset, are over before most of what follows. */
const AT_ONCE_MS = 100;

/**
 * Draws a second fault right after the first one, or at any time while that lasts. It hits the first one's application,
 * if that has one. Together they may have effects that neither has alone.
 */
function drawCompanion(random: Random, kind: FaultKind, world: WorldPlan, first: FaultPlan): FaultPlan {
  const withinMs = random.pick([Math.min(AT_ONCE_MS, first.forMs), first.forMs]);
  const second = drawFault(random, kind, world, first.atMs + random.int(0, withinMs));
  return second.app === undefined || first.app === undefined ? second : { ...second, app: first.app };
}

export function drawFault(random: Random, kind: FaultKind, world: WorldPlan, atMs: number): FaultPlan {
  const { apps, servers, sessionTimeoutMs: session, tickTimeMs: tick } = world;
  // Durations near the critical ones: a tick, parts of a session, a little more than a session, far more.
  const forMs = random.pick([
    tick / 2,
    session / 12,
    session / 3,
    session / 2,
    0.95 * session,
    session + tick,
    2 * session,
  ]);
  const app = random.int(0, apps - 1);
  const server = random.pick<FaultPlan['server'] & {}>(['leader', 'follower', random.int(0, servers - 1)]);
  const fault = { atMs, forMs: Math.max(1, Math.round(forMs * (0.8 + 0.4 * random.next()))), kind };
  switch (kind) {
    case 'one-way':
      return { ...fault, app, way: random.pick(['there', 'back']), ...(random.chance(0.5) && { server }) };
    case 'hold':
      return {
        ...fault,
        app,
        way: 'both',
        ...(random.chance(0.5) && { server }),
        ...(random.chance(0.3) && { backForMs: Math.ceil(fault.forMs * random.pick([0.2, 0.5, 0.8])) }),
      };
    case 'slow':
      return { ...fault, app, ms: random.pick([5, 50, Math.round(session / 4), Math.round(session / 2)]) };
    case 'wall-jump':
      return { ...fault, app, ms: random.pick([-3_600_000, -session, -50, 50, session, 3_600_000]) };
    case 'lag':
      return { ...fault, server, ms: random.pick([5, 100, session]) };
    case 'lost-reply':
    case 'lost-request':
    case 'failed-request':
      return { ...fault, server, op: random.pick(OPS) };
    case 'cut-off':
      return { ...fault, forMs: random.pick(isolationsMs(world)), server };
    case 'server-kill':
    case 'server-power-off':
    case 'refuse':
      return { ...fault, server };
    case 'freeze':
      // Includes durations after which only the other servers can help. A frozen leader's heartbeats are late, like
      // those of one that is cut off.
      if (server === 'follower') return { ...fault, server, forMs: fault.forMs * random.pick([1, 1, 1, 10]) };
      return { ...fault, server, forMs: random.pick(isolationsMs(world)) };
    case 'leader-change':
    case 'data-gone':
    case 'lost-quorum':
    case 'reap':
      return fault;
    default:
      return { ...fault, app };
  }
}

/**
 * The durations for which a server may be cut off from the others, or a leader may be frozen. The leader's heartbeats
 * tell it which sessions are alive. If they are later and the server is taken back, the assumption of
 * docs/guarantees.md does not hold.
 */
function isolationsMs({ sessionTimeoutMs, tickTimeMs, peerDelayMs, syncLimitMs }: WorldPlan): number[] {
  const slackMs = sessionTimeoutMs / 4 - tickTimeMs / 2 - 4 * peerDelayMs[1];
  const goneMs = syncLimitMs[1] + tickTimeMs + 4 * peerDelayMs[1];
  return [...(slackMs > 1 ? [Math.floor(slackMs * 0.9)] : []), Math.ceil(goneMs), Math.ceil(2 * goneMs)];
}

/** Every request that the library sends. */
const OPS = [
  'create2',
  'createContainer',
  'delete',
  'multi',
  'getData',
  'getChildren2',
  'setData',
  'sync',
  'closeSession',
  'setWatches',
  'ping',
  'check',
];
