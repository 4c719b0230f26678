import { Client } from '../../../robustness/traffic/client.js';
import type { ClientTools } from '../../../robustness/traffic/client.js';
import type { Desk } from '../desk.js';

/** Locks of every kind on a few keys, from the service and from decorated methods. */
export async function locks(desk: Desk): Promise<void> {
  const tools: ClientTools = { ...desk, runDecorated: (key, mode, work) => desk.methods.in(mode)(key, work) };
  const client = new Client(desk.name, tools, desk.orders.locks, desk.random);
  desk.finishing.addEventListener('abort', () => client.finish(), { once: true });
  if (!desk.finishing.aborted) await client.run();
}
