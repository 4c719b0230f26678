import { Poller } from '../decorated/poller.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';

/** A method with `@LeaderOnly` that all processes call again and again, and a leader that occasionally resigns. */
export async function leader(desk: Desk): Promise<void> {
  const { calls, elections, poller, random } = desk;
  if (!poller) throw new Error('this process has no methods with @LeaderOnly');
  const on = { on: 'election', key: Poller.ELECTION } as const;
  await actUntilFinished(desk, async () => {
    await calls.make({ ...on, ask: 'poll' }, async () => (await poller.poll(desk)) ?? null);
    if (random.chance(0.05)) await calls.make({ ...on, ask: 'resign' }, () => elections.resign(Poller.ELECTION));
  });
}
