import { ZooKeeperEnsemble, ZooKeeperServer } from '../../../lib/testing/index.js';

const TICK_MS = 300;
// A follower and its leader give each other up after 3 s, which is longer than a session lasts here. Until then, a
// follower that is cut off answers its clients normally.
const SYNC_LIMIT_TICKS = 10;
const CONTAINER_CHECK_MS = '500';

/** The servers that the workers of a run use. */
export interface Servers extends AsyncDisposable {
  readonly ports: readonly number[];
  readonly standalone?: ZooKeeperServer;
  readonly ensemble?: ZooKeeperEnsemble;
  /** Resolves with the answer of each server to an admin word. */
  ask(fourLetterWord: string): Promise<string[]>;
  /** Ends all faults of the servers. Resolves when all of them serve. */
  restore(): Promise<void>;
}

// Empty parents are removed frequently, so that they are recreated frequently.
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
