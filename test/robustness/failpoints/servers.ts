import type { Random } from '../random.js';
import type { Breakable, Ensemble, Member } from '../servers/servers.js';
import type { Damage, Failpoint } from './failpoint.js';

type Break = (server: Breakable) => Promise<() => Promise<void>>;

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

function onEnsemble(doBreak: (ensemble: Ensemble, random: Random) => Promise<Damage | undefined>): Failpoint {
  return async ({ servers }, random) => servers.ensemble && doBreak(servers.ensemble, random);
}

function onLeader(doBreak: Break): Failpoint {
  return onEnsemble(async (ensemble) => {
    const leader = await ensemble.leader();
    return { target: `${leader.name}, the leader`, mend: await doBreak(leader) };
  });
}

function onFollower(doBreak: Break): Failpoint {
  return onEnsemble(async (ensemble, random) => {
    const follower = await oneFollower(ensemble, random);
    return follower && { target: `${follower.name}, a follower`, mend: await doBreak(follower) };
  });
}

async function oneFollower(ensemble: Ensemble, random: Random): Promise<Member | undefined> {
  const followers = await ensemble.followers();
  return followers.length > 0 ? random.pick(followers) : undefined;
}

function isolated(ensemble: Ensemble, member: Member, role: string): Damage {
  ensemble.isolate?.(member);
  return { target: `${member.name}, ${role}`, mend: () => ensemble.heal?.() };
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
    ensemble.members.forEach((member) => ensemble.isolate?.(member));
    return { target: 'all', mend: () => ensemble.heal?.() };
  }),
  'all servers down': onEnsemble(async ({ members }) => {
    await Promise.all(members.map((member) => member.kill()));
    const mend = async () => {
      await Promise.all(members.map((member) => member.restart()));
    };
    return { target: 'all', mend };
  }),
} satisfies Record<string, Failpoint>;
