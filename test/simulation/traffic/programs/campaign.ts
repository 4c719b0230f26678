import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { withLimits, workUnder } from '../working.js';

const NAME = 'captain';

/** Clients that campaign explicitly, proclaim something, lead for a while and resign. */
export async function campaign(desk: Desk): Promise<void> {
  const { calls, elections, random } = desk;
  const on = { on: 'election', key: NAME } as const;
  await actUntilFinished(desk, async () => {
    if (random.chance(0.2)) await calls.make({ ...on, ask: 'leader' }, () => elections.leader(NAME));
    const stood = await calls.make({ ...on, ask: 'campaign' }, () =>
      withLimits(desk, (limits) => elections.campaign(NAME, { label: desk.name, ...limits })),
    );
    const term = stood.value;
    if (!term) return;
    if (random.chance(0.3)) await calls.make({ ...on, ask: 'proclaim' }, () => term.proclaim(desk.name));
    await workUnder(desk, term, { kind: 'term', call: stood.id });
    await calls.make({ ...on, ask: 'resign' }, () => (random.chance(0.5) ? term.resign() : elections.resign(NAME)));
    // Another client of this process may lead as well by now, and `elections.resign` may have ended that one's term.
    await term.resign();
  });
}
