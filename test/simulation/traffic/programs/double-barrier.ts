import type { BarrierMember } from '../../../../lib/coordination/double-barrier.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { withLimits, workUnder } from '../working.js';

const KEY = 'stage';

/** Members that enter and leave together, or give up before. */
export async function doubleBarrier(desk: Desk): Promise<void> {
  const count = desk.orders.barrierCount;
  const stage = desk.coordination.doubleBarrier(KEY, { count });
  const on = { on: 'double barrier', key: KEY } as const;
  await actUntilFinished(desk, async () => {
    const entered = await withLimits(desk, (limits, waitMs) =>
      desk.calls.make({ ...on, ask: 'enter', count }, () => stage.enter(limits), { waitMs }),
    );
    const member = entered.value;
    if (!member) return;
    await workUnder(desk, believableOf(member), { kind: 'member', call: entered.id });
    const ask = desk.random.weighted({ leave: 4, 'go out': 1 });
    await desk.calls.make({ ...on, ask, member: entered.id }, () =>
      ask === 'leave' ? withLimits(desk, (limits) => member.leave(limits)) : member.goOut(),
    );
  });
}

/** Members have no tokens, because nobody guards anything by being inside. */
function believableOf(member: BarrierMember) {
  const { key, signal } = member;
  return { key, signal, fencingToken: 0n, isHeld: () => member.isIn() };
}
