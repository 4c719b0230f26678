import { ZooKeeperEnsemble, ZooKeeperFaultProxy, ZooKeeperServer } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import type { WakeUps } from '../model/history.js';
import type { Ensemble, Member, Servers } from './servers.js';

const TICK_MS = 300;
// A follower and its leader give each other up after 3 s, which is longer than a session lasts here. Until then, a
// follower that is cut off answers its clients normally.
const SYNC_LIMIT_TICKS = 10;
const CONTAINER_CHECK_MS = '500';

// Empty parents are removed frequently, so that they are recreated frequently.
const systemProperties = { 'znode.container.checkIntervalMs': CONTAINER_CHECK_MS };

/** Sends an admin word to every server. */
type Ask = (fourLetterWord: string) => Promise<string[]>;

const common = (ask: Ask) => ({
  openLink: (port: number) => ZooKeeperFaultProxy.open(port),
  stored: (_basePath: string, sessions: boolean) => storedOn(ask, sessions),
  wakeUps: () => wakeUpsOf(ask),
});

export async function startZooKeeperServer(): Promise<Servers> {
  const server = await ZooKeeperServer.start({ tickTimeMs: TICK_MS, systemProperties });
  return {
    ...common(async (word) => [await server.ask(word)]),
    ports: [server.port],
    standalone: server,
    restore: () => (server.pid === undefined ? server.restart() : server.thaw()),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export async function startEnsemble(): Promise<Servers> {
  const ensemble = await ZooKeeperEnsemble.start({
    tickTimeMs: TICK_MS,
    syncLimit: SYNC_LIMIT_TICKS,
    systemProperties,
  });
  return {
    ...common((word) => Promise.all(ensemble.servers.map((server) => server.ask(word)))),
    ports: ensemble.servers.map((server) => server.port),
    ensemble: ensembleOf(ensemble),
    restore: () => ensemble.restore(),
    [Symbol.asyncDispose]: () => ensemble.stop(),
  };
}

function ensembleOf(ensemble: ZooKeeperEnsemble): Ensemble {
  const members = ensemble.servers.map((server) => ({ server, member: memberOf(server) }));
  const memberAt = (server: EnsembleServer) => {
    return members.find((one) => one.server === server)?.member ?? memberOf(server);
  };
  return {
    members: members.map(({ member }) => member),
    leader: async () => memberAt(await ensemble.leader()),
    followers: async () => (await ensemble.followers()).map(memberAt),
    isolate: (member) => members.forEach((one) => one.member === member && ensemble.partition(one.server)),
    heal: () => ensemble.heal(),
  };
}

function memberOf(server: EnsembleServer): Member {
  return {
    name: `server ${server.id}`,
    kill: () => server.kill(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    restart: () => server.restart(),
  };
}

async function storedOn(ask: Ask, sessions: boolean): Promise<string[]> {
  const [dumps = [], watches = [], metrics = []] = await Promise.all(['dump', 'wchs', 'mntr'].map((word) => ask(word)));
  const ofEach = dumps.map((dump, place) => [
    ...(dump.match(/(?<=^\t)\/.+$/gm) ?? []).map((path) => `the ephemeral ${path}`),
    ...(/Total watches:(?!0\b)\d+/.exec(watches[place] ?? '') ?? []),
    ...(sessions ? openSessions(metrics[place] ?? '') : []),
  ]);
  return [...new Set(ofEach.flat())].map((what) => `${what}, on server ${placesOf(what, ofEach)} of ${ofEach.length}`);
}

/** Names the servers, which distinguishes servers that disagree from a client that has left something behind. */
function placesOf(what: string, ofEach: readonly (readonly string[])[]): string {
  return ofEach.flatMap((all, place) => (all.includes(what) ? [place + 1] : [])).join(' and ');
}

function openSessions(metrics: string): string[] {
  const sessions = metric(metrics, 'zk_global_sessions');
  return sessions > 0 ? [`${sessions} open sessions`] : [];
}

/** Counts the watches that a deletion fired, on servers that have no other clients. */
async function wakeUpsOf(ask: Ask): Promise<WakeUps> {
  const metrics = await ask('mntr');
  return {
    deletions: metrics.reduce((sum, text) => sum + metric(text, 'zk_cnt_node_deleted_watch_count'), 0),
    mostWatchesOfOne: Math.max(...metrics.map((text) => metric(text, 'zk_max_node_deleted_watch_count'))),
  };
}

function metric(metrics: string, name: string): number {
  const [, value] = new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(metrics) ?? [];
  if (value === undefined) throw new Error(`the server does not tell ${name}`);
  return Number(value);
}
