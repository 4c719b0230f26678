import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';
import { keyOfNow, withLimits } from '../working.js';

/** A barrier that is raised and lifted while others wait at it. */
export async function barrier(desk: Desk): Promise<void> {
  await actUntilFinished(desk, async () => {
    const key = keyOfNow(desk, 'gate');
    const gate = desk.coordination.barrier(key);
    const on = { on: 'barrier', key } as const;
    const deed = desk.random.weighted({ close: 1, wait: 4, isUp: 1 });
    if (deed === 'isUp') {
      await desk.calls.make({ ...on, ask: 'isUp' }, () => gate.isUp(), { answerOf: (value) => ({ value }) });
    } else if (deed === 'wait') {
      await desk.calls.make({ ...on, ask: 'wait' }, () => withLimits(desk, (limits) => gate.wait(limits)));
    } else {
      await desk.calls.make({ ...on, ask: 'raise' }, () => gate.raise());
      await passSome(desk, desk.orders.workMs);
      await desk.calls.make({ ...on, ask: 'lift' }, () => gate.lift());
    }
  });
}
