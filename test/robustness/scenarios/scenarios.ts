import { LINK_FAILPOINTS } from '../failpoints/links.js';
import { PROCESS_FAILPOINTS } from '../failpoints/processes.js';
import { ALL_LENGTHS, ENDS_SESSIONS } from '../failpoints/schedule.js';
import type { FailpointName, Lane } from '../failpoints/schedule.js';
import { SERVER_FAILPOINTS } from '../failpoints/servers.js';
import type { TrafficShape } from '../traffic/orders.js';
import type { Scenario } from './scenario.js';

const SESSION_MS = 1_500;

/** Every caller separate; with a local queue; with warm leases shorter and longer than a session. */
const SHARINGS: TrafficShape['sharings'] = [
  { localLine: false },
  { localLine: true },
  { localLine: true, keepMs: SESSION_MS / 5 },
  { localLine: true, keepMs: 4 * SESSION_MS },
];

/** All kinds of requests, at a high rate. */
const BUSY: TrafficShape = {
  knows: 'all servers',
  // Nested keys as well, so that directories of keys contain directories, and one key that looks like a contender.
  busyKeys: ['stock', 'stock/coupons', 'stock/block-0000000000', 'prices'],
  busyMs: [0, 8],
  readOnlyKeys: ['prices/catalogue'],
  readOnlyMs: [10, 60],
  readOnlyShare: 0.2,
  keptKeys: ['orders/1', 'orders/2', 'orders/3', 'poller', 'reports'],
  keptShare: 0.06,
  keptMs: [SESSION_MS / 2, 4 * SESSION_MS],
  keptWaitMs: 8 * SESSION_MS,
  seldomShare: 0.15,
  clientsPerWorker: 5,
  kinds: { mutex: 3, read: 3, write: 2, try: 2, aborted: 2, using: 2, single: 1, multi: 2, revoke: 0.5 },
  waitsMs: [30, 200, 1_000, 6_000],
  abortAfterMs: [0, 200],
  pauseMs: [0, 15],
  sharings: SHARINGS,
};

/** Holds one key for long and requests nothing else, so that its session gets few messages. */
const KEEPER: TrafficShape = {
  ...BUSY,
  keptShare: 1,
  readOnlyShare: 0,
  clientsPerWorker: 1,
};

const BASE = {
  backend: 'zookeeper',
  servers: 'standalone',
  traffic: [KEEPER, KEEPER, BUSY, BUSY, BUSY],
  faultLengths: ALL_LENGTHS,
  sessionTimeoutMs: SESSION_MS,
  seconds: 25,
  least: { holds: 100, writes: 100, faults: 3 },
  lock: 'real',
  finalLimitMs: 45_000,
  countsWakeUps: false,
} satisfies Partial<Scenario>;

const LINKS = Object.keys(LINK_FAILPOINTS) as Lane;
const PROCESSES = Object.keys(PROCESS_FAILPOINTS) as Lane;
const STANDALONE: Lane = ['server restarted', 'server killed', 'server frozen'];
const ENSEMBLE = (Object.keys(SERVER_FAILPOINTS) as FailpointName[]).filter((name) => !STANDALONE.includes(name));

/** Every kind of request and no fault. A failure here is unrelated to faults. */
const calm: Scenario = { ...BASE, name: 'calm', lanes: {}, least: { ...BASE.least, faults: 0 } };

const IN_LINE: TrafficShape = {
  ...BUSY,
  busyKeys: ['line'],
  keptKeys: [],
  keptShare: 0,
  readOnlyShare: 0,
  seldomShare: 0,
  kinds: { mutex: 1 },
  waitsMs: [60_000],
  // Every caller is a contender, so that there is a wait queue.
  sharings: [{ localLine: false }],
};

/** One wait queue in which no waiter gives up. A release wakes one waiter, which the server counts. */
const line: Scenario = {
  ...BASE,
  name: 'line',
  lanes: {},
  least: { ...BASE.least, faults: 0 },
  traffic: [1, 2, 3, 4].map(() => IN_LINE),
  countsWakeUps: true,
};

const links: Scenario = { ...BASE, name: 'links', lanes: { links: LINKS } };
const processes: Scenario = { ...BASE, name: 'processes', lanes: { processes: PROCESSES } };
const server: Scenario = { ...BASE, name: 'server', lanes: { servers: STANDALONE } };
const ensemble: Scenario = { ...BASE, name: 'ensemble', servers: 'ensemble', lanes: { servers: ENSEMBLE } };

/**
 * Knows only one server, so its lease expires when that server is cut off. A waiter elsewhere is then granted the key.
 */
const STAYING: TrafficShape = { ...KEEPER, knows: 'one server', clientsPerWorker: 2 };

/** Servers that are cut off from each other keep answering. This is the one case that pings do not detect. */
const partitions: Scenario = {
  ...BASE,
  name: 'partitions',
  servers: 'ensemble',
  traffic: [STAYING, STAYING, STAYING, STAYING, STAYING, STAYING, BUSY],
  faultLengths: [ENDS_SESSIONS],
  lanes: {
    servers: ['follower isolated', 'follower isolated', 'leader isolated', 'leader frozen', 'everybody isolated'],
  },
};

/** Faults of servers, links and processes at the same time. */
const everything: Scenario = {
  ...BASE,
  name: 'everything',
  servers: 'ensemble',
  lanes: { servers: ENSEMBLE, links: LINKS, processes: PROCESSES },
};

export const SCENARIOS: readonly Scenario[] = [calm, line, links, processes, server, ensemble, partitions, everything];

/** The scenarios that `npm run test:long` runs: long enough for about one fault of each kind. */
export const SHORT: readonly { readonly scenario: Scenario; readonly seed: number; readonly seconds: number }[] = [
  { scenario: line, seed: 1, seconds: 2 },
  { scenario: links, seed: 1, seconds: 6 },
  { scenario: processes, seed: 1, seconds: 6 },
  { scenario: server, seed: 1, seconds: 5 },
  { scenario: everything, seed: 1, seconds: 7 },
];

/** Holders that are stopped for longer than a session lasts, two at a time. */
const longStops: Scenario = {
  ...processes,
  lanes: { one: ['process stopped'], other: ['process stopped'] },
  faultLengths: [[1.4, 2]],
};

/** Runs with planted defects in the locks, and the check that has to detect each. */
export const PLANTED: readonly { readonly scenario: Scenario; readonly seconds: number; readonly finds: string }[] = [
  { scenario: { ...calm, name: 'planted-everybody', lock: 'everybody' }, seconds: 1, finds: 'exclusion' },
  { scenario: { ...longStops, name: 'planted-deaf', lock: 'deaf' }, seconds: 4, finds: 'exclusion' },
  {
    scenario: { ...calm, name: 'planted-forgetful', lock: 'forgetful', finalLimitMs: 1_000 },
    seconds: 1,
    finds: 'liveness',
  },
];

export function scenarioNamed(name: string, scenarios = SCENARIOS): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new Error(`no scenario "${name}"; there are ${scenarios.map((one) => one.name).join(', ')}`);
  return scenario;
}
