import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { coordinated } from '../../support/coordination/services.js';

const connectString = inject('zookeeper');
/** After so long a lease watches its own znode. */
const LONG_HOLD_MS = 300;

describe('what ends in good order after it was held for long', () => {
  it('is an item that is acknowledged: nothing tells its taker that it was lost', async () => {
    const { one } = await coordinated(connectString);
    await one.queue('q').put('slow');
    const item = (await one.queue('q').take())!;
    await pause(LONG_HOLD_MS);
    await item.ack();
    expect(item.signal.aborted).toBe(false);
    expect(item.isHeld()).toBe(false);
  });

  it('is a member that leaves, the last one also', async () => {
    const { one, other } = await coordinated(connectString);
    const members = await Promise.all([one, other].map((of) => of.doubleBarrier('d', { count: 2 }).enter()));
    await pause(LONG_HOLD_MS);
    await Promise.all(members.map((member) => member.leave()));
    expect(members.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });
});
