import type { FailpointName } from '../failpoints/schedule.js';
import type { BackendName } from '../servers/servers.js';
import { SESSION_CLOSED } from '../validate/closed-sessions.js';
import type { Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

/** A scenario or a fault that does not exist on a backend, with the reason. */
export interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/** The differences of a backend from ZooKeeper. */
interface Difference {
  readonly scenarios: readonly LeftOut[];
  readonly faults: readonly LeftOut[];
  readonly sessionTimeoutMs?: number;
  /** The servers of scenarios that have an ensemble on ZooKeeper. */
  readonly servers: Scenario['servers'];
}

const WAKE_UPS = { name: 'line', why: 'the server does not count the waiting requests that a release wakes' };
const CLOSED = { name: SESSION_CLOSED, why: 'a session cannot be ended by its id and password' };
const ISOLATED: readonly FailpointName[] = ['follower isolated', 'leader isolated', 'everybody isolated'];

const DIFFERENCES: Readonly<Record<Exclude<BackendName, 'zookeeper'>, Difference>> = {
  redis: {
    scenarios: [
      WAKE_UPS,
      { name: 'ensemble', why: 'one server decides; promotions are tested in test/redis/promotion.spec.ts' },
      { name: 'partitions', why: 'one server decides' },
    ],
    faults: [CLOSED],
    servers: 'standalone',
  },
  etcd: {
    scenarios: [WAKE_UPS, { name: 'partitions', why: 'members cannot be cut off from each other here' }],
    faults: [CLOSED, ...ISOLATED.map((name) => ({ name, why: 'members cannot be cut off from each other here' }))],
    // The shortest session of etcd.
    sessionTimeoutMs: 2_000,
    servers: 'ensemble',
  },
};

const SERVER_FAULTS: readonly FailpointName[] = ['server restarted', 'server killed', 'server frozen'];

/** The scenarios of a backend, and what is left out of them. */
export function scenariosOn(backend: BackendName): {
  readonly scenarios: readonly Scenario[];
  readonly leftOut: readonly LeftOut[];
} {
  if (backend === 'zookeeper') return { scenarios: SCENARIOS, leftOut: [] };
  const { scenarios, faults, servers, sessionTimeoutMs } = DIFFERENCES[backend];
  const kept = SCENARIOS.filter(({ name }) => !scenarios.some((out) => out.name === name));
  const without = (lane: readonly FailpointName[]) => lane.filter((name) => !faults.some((out) => out.name === name));
  const changed = kept.map((scenario) => {
    const isSmaller = scenario.servers === 'ensemble' && servers === 'standalone';
    const lanes = Object.entries(scenario.lanes).map(
      ([lane, failpoints]) => [lane, isSmaller && lane === 'servers' ? SERVER_FAULTS : without(failpoints)] as const,
    );
    return {
      ...scenario,
      backend,
      lanes: Object.fromEntries(lanes),
      servers: isSmaller ? servers : scenario.servers,
      sessionTimeoutMs: sessionTimeoutMs ?? scenario.sessionTimeoutMs,
    };
  });
  return { scenarios: changed, leftOut: [...scenarios, ...faults] };
}
