import type { EnsembleServer, ZooKeeperEnsemble } from '../../../lib/testing/index.js';
import type { Random } from '../random.js';
import type { Damage, Failpoint } from './failpoint.js';

type Break = (server: Breakable) => Promise<() => Promise<void>>;

/** The common operations of single servers and those of an ensemble. */
interface Breakable {
  kill(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  restart(): Promise<void>;
}

const kill: Break = async (server) => {
  await server.kill();
  return () => server.restart();
};

const freeze: Break = async (server) => {
  await server.freeze();
  return () => server.thaw();
};

const restart: Break = async (server) => {
  await server.restart();
  return async () => {};
};

function onServer(doBreak: Break): Failpoint {
  return async ({ servers }) => servers.standalone && { target: 'the server', mend: await doBreak(servers.standalone) };
}

function onEnsemble(doBreak: (ensemble: ZooKeeperEnsemble, random: Random) => Promise<Damage | undefined>): Failpoint {
  return async ({ servers }, random) => servers.ensemble && doBreak(servers.ensemble, random);
}

function onLeader(doBreak: Break): Failpoint {
  return onEnsemble(async (ensemble) => {
    const leader = await ensemble.leader();
    return { target: `${nameOf(leader)}, the leader`, mend: await doBreak(leader) };
  });
}

function onFollower(doBreak: Break): Failpoint {
  return onEnsemble(async (ensemble, random) => {
    const follower = await oneFollower(ensemble, random);
    return follower && { target: `${nameOf(follower)}, a follower`, mend: await doBreak(follower) };
  });
}

async function oneFollower(ensemble: ZooKeeperEnsemble, random: Random): Promise<EnsembleServer | undefined> {
  const followers = await ensemble.followers();
  return followers.length > 0 ? random.pick(followers) : undefined;
}

function isolated(ensemble: ZooKeeperEnsemble, server: EnsembleServer, role: string): Damage {
  ensemble.partition(server);
  return { target: `${nameOf(server)}, ${role}`, mend: () => ensemble.heal() };
}

function nameOf(server: EnsembleServer): string {
  return `server ${server.id}`;
}

export const SERVER_FAILPOINTS = {
  'server restarted': onServer(restart),
  'server killed': onServer(kill),
  'server frozen': onServer(freeze),
  'leader killed': onLeader(kill),
  'leader frozen': onLeader(freeze),
  'leader restarted': onLeader(restart),
  'follower killed': onFollower(kill),
  'follower frozen': onFollower(freeze),
  'follower isolated': onEnsemble(async (ensemble, random) => {
    const follower = await oneFollower(ensemble, random);
    return follower && isolated(ensemble, follower, 'a follower');
  }),
  'leader isolated': onEnsemble(async (ensemble) => isolated(ensemble, await ensemble.leader(), 'the leader')),
  'everybody isolated': onEnsemble(async (ensemble) => {
    ensemble.servers.forEach((server) => ensemble.partition(server));
    return { target: 'all', mend: () => ensemble.heal() };
  }),
  'all servers down': onEnsemble(async (ensemble) => {
    await Promise.all(ensemble.servers.map((server) => server.kill()));
    const mend = async () => {
      await Promise.all(ensemble.servers.map((server) => server.restart()));
    };
    return { target: 'all', mend };
  }),
} satisfies Record<string, Failpoint>;
