import type { App } from '../cluster/app.js';
import type { Network, SimConnection } from '../network/network.js';
import type { FaultPlan } from '../plan/plan.js';
import type { SimulatedServers } from '../servers/simulated-servers.js';
import type { World } from '../world/world.js';
import type { FaultKind, Scenario } from './scenarios.js';

/** A fault that may happen at a point of a run. */
export interface SmallFault {
  readonly text: string;
  do(): void;
}

interface Stage {
  readonly world: World;
  readonly network: Network;
  readonly servers: SimulatedServers;
  readonly apps: readonly App[];
}

/** Notifications about faults that the servers and the processes do not get. */
interface Told {
  /** Returns the session to close. */
  closing(app: string): bigint | undefined;
  died(app: string): void;
}

/** The time after which a killed server is back. */
const SERVER_IS_AWAY_US = 200_000;

/** Returns a function that lists the faults a scenario allows at a point. */
export function faultsOf({ faults }: Scenario, stage: Stage, told: Told): () => readonly SmallFault[] {
  return () => faults.flatMap((kind) => of(kind, stage, told));
}

function of(kind: FaultKind, stage: Stage, told: Told): SmallFault[] {
  if (kind === 'reap') return [{ text: 'reap', do: () => void stage.servers.break(planOf(kind)) }];
  if (kind === 'server-kill') return stage.servers.ports.map((_, server) => killed(server, stage));
  return stage.apps
    .filter((app) => app.current !== undefined && isPossible(kind, app, stage))
    .map((app) => ({ text: `${kind} of ${app.name}`, do: () => DOINGS[kind](app, stage, told) }));
}

/** Only an existing connection can be lost. */
function isPossible(kind: FaultKind, app: App, stage: Stage): boolean {
  return (kind !== 'reset' && kind !== 'abandon') || connectionsOf(app, stage).length > 0;
}

function killed(server: number, { servers, world }: Stage): SmallFault {
  return {
    text: `server-kill ${server + 1}`,
    do: () => {
      const restart = servers.break({ ...planOf('server-kill'), server });
      if (restart) world.after(SERVER_IS_AWAY_US, restart);
    },
  };
}

type Doing = (app: App, stage: Stage, told: Told) => void;

const connectionsOf = (app: App, { network }: Stage): SimConnection[] => network.connections(app.name);

const DOINGS: Readonly<Record<Exclude<FaultKind, 'reap' | 'server-kill'>, Doing>> = {
  /** The data that it has sent arrives, and then the end of its connection. */
  crash: (app, _stage, told) => {
    told.died(app.name);
    app.kill(false);
  },
  /** Everything under way is lost, and no other process is notified. */
  'power-off': (app, stage, told) => {
    told.died(app.name);
    connectionsOf(app, stage).forEach((connection) => connection.vanish());
    app.kill(true);
  },
  /** Both sides know at once. Everything under way is lost: a request, or a reply. */
  reset: (app, stage) => connectionsOf(app, stage).forEach((connection) => connection.reset()),
  /** The client knows at once. Its requests still arrive, and no reply does. */
  abandon: (app, stage) => connectionsOf(app, stage).forEach((connection) => connection.abandon()),
  /** The session is closed by another client that knows its password. */
  expiry: (app, { servers }, told) => {
    const session = told.closing(app.name);
    if (session !== undefined) servers.closeSession(session);
  },
};

function planOf(kind: FaultPlan['kind']): FaultPlan {
  return { atMs: 0, forMs: 0, kind };
}
