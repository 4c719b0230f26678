import { onTestFinished } from 'vitest';
import type { EtcdServer } from '../../../lib/testing/index.js';

/** The leader of a cluster, and the other members. On a busy machine, the leader may change at any time. */
export async function leaderAndFollowers(members: readonly EtcdServer[]) {
  const leading = () => Promise.all(members.map((member) => member.leads().catch(() => false)));
  let leads = await leading();
  while (leads.filter((isLeader) => isLeader).length !== 1) {
    await elected(members);
    leads = await leading();
  }
  const leader = members[leads.indexOf(true)] as EtcdServer;
  return { leader, followers: members.filter((member) => member !== leader) };
}

/** Stops members until the test ends, or until the function that it returns is called. */
export async function freeze(...servers: readonly EtcdServer[]): Promise<() => Promise<void>> {
  const thaw = async () => void (await Promise.all(servers.map((server) => server.thaw())));
  onTestFinished(thaw);
  await Promise.all(servers.map((server) => server.freeze()));
  return thaw;
}

/** Resolves when each of these has a leader. */
export async function elected(servers: readonly EtcdServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.ready()));
}
