import { ZooKeeperEnsemble, ZooKeeperServer } from '../../../lib/testing/index.js';

const TICK_MS = 300;
// Followers and their leader give each other up after 3 s, longer than a session lasts here: for all that time a
// follower that is cut off answers its clients as if nothing was.
const SYNC_LIMIT_TICKS = 10;
const CONTAINER_CHECK_MS = '500';

/** What the workers of a run talk to. */
export interface Servers extends AsyncDisposable {
  readonly ports: readonly number[];
  readonly standalone?: ZooKeeperServer;
  readonly ensemble?: ZooKeeperEnsemble;
  /** The answer of each server to an admin word. */
  ask(fourLetterWord: string): Promise<string[]>;
  /** Undoes whatever was done to them. Resolves when all of them serve. */
  restore(): Promise<void>;
}

// Empty parents are removed all the time, so that they are made again all the time.
const systemProperties = { 'znode.container.checkIntervalMs': CONTAINER_CHECK_MS };

export async function startServers(kind: 'standalone' | 'ensemble'): Promise<Servers> {
  return kind === 'standalone' ? startStandalone() : startEnsemble();
}

async function startStandalone(): Promise<Servers> {
  const server = await ZooKeeperServer.start({ tickTimeMs: TICK_MS, systemProperties });
  return {
    ports: [server.port],
    standalone: server,
    ask: async (word) => [await server.ask(word)],
    restore: () => (server.pid === undefined ? server.restart() : server.thaw()),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

async function startEnsemble(): Promise<Servers> {
  const ensemble = await ZooKeeperEnsemble.start({
    tickTimeMs: TICK_MS,
    syncLimit: SYNC_LIMIT_TICKS,
    systemProperties,
  });
  return {
    ports: ensemble.servers.map((server) => server.port),
    ensemble,
    ask: (word) => Promise.all(ensemble.servers.map((server) => server.ask(word))),
    restore: () => ensemble.restore(),
    [Symbol.asyncDispose]: () => ensemble.stop(),
  };
}
