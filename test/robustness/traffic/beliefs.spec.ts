import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { sharedNow } from '../clock.js';
import type { Hold } from '../model/history.js';
import { readJournal } from '../model/read-journal.js';
import { Beliefs } from './beliefs.js';
import type { Watchfulness } from './beliefs.js';

/** A lease that can expire, and its holder's belief in it. */
function believed(watchfulness: Watchfulness) {
  let text = '';
  let runsOutAt = Infinity;
  const lease = new GrantedLease({
    key: 'k',
    mode: 'exclusive',
    fencingToken: 1n,
    isCurrent: () => sharedNow() < runsOutAt,
    giveBack: async () => {},
  });
  const beliefs = new Beliefs('worker', { write: (entry) => (text += `${JSON.stringify(entry)}\n`) });
  const belief = beliefs.begin(lease, 'exclusive', watchfulness) ?? expect.unreachable();
  const expire = () => (runsOutAt = sharedNow());
  const runOut = () => {
    expire();
    lease.lose(new LockLostError('k', 'its time ran out'));
  };
  const hold = (): Hold => readJournal('worker', text).holds[0] ?? expect.unreachable();
  /** Like the clock of a session: `isHeld()` is false at once, and a timer reports the loss when it is scheduled. */
  const runOutIn = (ms: number) => {
    runsOutAt = sharedNow() + ms;
    setTimeout(runOut, ms);
  };
  return { belief, beliefs, lease, runOut, runOutIn, hold, expire };
}

describe.each(['asks', 'listens'] as const)('a holder that %s', (watchfulness) => {
  it('believes until it releases', async () => {
    const { belief, hold } = believed(watchfulness);
    await expect.poll(() => hold().seenUntil - hold().from).toBeGreaterThan(50);
    belief.end();
    expect(hold().end).toBe('released');
    expect(hold().seenUntil).toBeLessThanOrEqual(sharedNow());
  });

  it('does not believe in a stall after which the loss is reported at once', async () => {
    const { runOutIn, hold } = believed(watchfulness);
    await pause(50);
    const stoppedAt = sharedNow();
    // Due during the stall.
    runOutIn(20);
    blockEventLoop(100);
    await expect.poll(() => hold().end).toBe('lost');
    expect(hold().seenUntil).toBeLessThanOrEqual(stoppedAt);
  });

  it('is credited with the whole stall if it still believes afterwards', async () => {
    const { belief, hold } = believed(watchfulness);
    await pause(50);
    blockEventLoop(100);
    const wokenAt = sharedNow();
    await expect.poll(() => hold().seenUntil).toBeGreaterThan(wokenAt);
    belief.end();
  });

  it('does not believe in a lease that is already lost', () => {
    const { beliefs, lease, runOut } = believed(watchfulness);
    runOut();
    expect(beliefs.begin(lease, 'exclusive', watchfulness)).toBeUndefined();
  });
});

describe('a holder that asks', () => {
  it('notices by itself that the time has run out', async () => {
    const { expire, hold } = believed('asks');
    expire();
    await expect.poll(() => hold().end).toBe('lost');
  });
});

describe('a holder that listens', () => {
  it('does not believe in a stall between two ticks and the turn in which both look', async () => {
    const setTicks = vi.spyOn(globalThis, 'setInterval').mockReturnValue(setTimeout(() => {}));
    onTestFinished(() => setTicks.mockRestore());
    const { belief, hold } = believed('listens');
    const tick = setTicks.mock.calls[0]![0];
    // Two in one turn: other timers took longer than the time between them.
    tick();
    tick();
    const stoppedAt = sharedNow();
    blockEventLoop(20);
    await new Promise(setImmediate);
    belief.end();
    expect(hold().seenUntil).toBeLessThanOrEqual(stoppedAt);
  });
});
