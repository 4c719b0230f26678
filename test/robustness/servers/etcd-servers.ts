import { setTimeout as pause } from 'node:timers/promises';
import { EtcdServer, FaultProxy } from '../../../lib/testing/index.js';
import type { Ensemble, Member, Servers } from './servers.js';

const LEADER_LIMIT_MS = 15_000;
const POLL_MS = 50;

export async function startEtcdServer(): Promise<Servers> {
  const server = await EtcdServer.start();
  return { ...common([server]), standalone: server };
}

/** Three members. They cannot be cut off from each other: their links are their own. */
export async function startEtcdCluster(): Promise<Servers> {
  const servers = await EtcdServer.startCluster(3);
  return { ...common(servers), ensemble: ensembleOf(servers) };
}

function common(servers: readonly EtcdServer[]): Servers {
  return {
    ports: servers.map(({ port }) => port),
    openLink: (port) => FaultProxy.open(port),
    stored: (basePath, sessions) => storedOn(servers[0] as EtcdServer, basePath, sessions),
    restore: async () => {
      await Promise.all(servers.map((server) => (server.pid === undefined ? server.restart() : server.thaw())));
      await Promise.all(servers.map((server) => server.ready()));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function ensembleOf(servers: readonly EtcdServer[]): Ensemble {
  const members = servers.map((server, place): Member & { readonly server: EtcdServer } => ({
    name: `member ${place + 1}`,
    server,
    kill: () => server.kill(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    restart: () => server.restart(),
  }));
  const leaders = async () => {
    const said = await Promise.all(members.map(({ server }) => server.leads().catch(() => false)));
    return members.filter((_, place) => said[place]);
  };
  const leader = async () => {
    for (const end = performance.now() + LEADER_LIMIT_MS; performance.now() < end; await pause(POLL_MS)) {
      const [only, ...others] = await leaders();
      if (only && others.length === 0) return only;
    }
    throw new Error('the cluster has no leader');
  };
  const followers = async () => {
    const leading = await leader();
    return members.filter((member) => member !== leading);
  };
  return { members, leader, followers };
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

async function storedOn(server: EtcdServer, basePath: string, sessions: boolean): Promise<string[]> {
  const kinds = sessions ? ['lock', 'permits', 'session'] : ['lock', 'permits'];
  const found = await Promise.all(kinds.map((kind) => keysBelow(server, `${basePath}/${kind}/`)));
  return found.flat().map((key) => `the key ${key}`);
}

async function keysBelow(server: EtcdServer, prefix: string): Promise<string[]> {
  const range = { key: inBase64(prefix), range_end: inBase64(`${prefix.slice(0, -1)}0`), keys_only: true };
  const { kvs = [] } = (await server.call('kv/range', range)) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}
