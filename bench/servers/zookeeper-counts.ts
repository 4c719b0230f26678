import type { ZooKeeperServer } from '../../lib/testing/index.js';
import type { Counts } from './server.js';

const asked = new WeakMap<ZooKeeperServer, number>();

/** Returns the combined counts of these servers, without the messages between them. */
export async function countsOf(servers: readonly ZooKeeperServer[]): Promise<Counts> {
  const each = await Promise.all(servers.map(countsOfOne));
  const sum = (field: keyof Counts) => each.reduce((total, counts) => total + counts[field], 0);
  // Each server of an ensemble knows all ephemeral znodes.
  return { received: sum('received'), sent: sum('sent'), ephemerals: each[0]?.ephemerals ?? 0 };
}

async function countsOfOne(server: ZooKeeperServer): Promise<Counts> {
  // This request is a message itself, which the server counts before it answers.
  const questions = (asked.get(server) ?? 0) + 1;
  asked.set(server, questions);
  const answer = await server.ask('mntr');
  const count = (name: string) => Number(new RegExp(`^zk_${name}\\s+(\\d+)`, 'm').exec(answer)?.[1]);
  return {
    received: count('packets_received') - questions,
    sent: count('packets_sent'),
    ephemerals: count('ephemerals_count'),
  };
}
