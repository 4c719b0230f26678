import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { sharedNow } from '../clock.js';
import type { Hold } from '../model/history.js';
import { readJournal } from '../model/read-journal.js';
import { Beliefs } from './beliefs.js';
import type { Watchfulness } from './beliefs.js';

/** A lease that runs out, as its holder comes to believe in it. */
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
  /** As the clock of a session does: known by the clock at once, told by a timer when there is time for it. */
  const runOutIn = (ms: number) => {
    runsOutAt = sharedNow() + ms;
    setTimeout(runOut, ms);
  };
  return { belief, beliefs, lease, runOut, runOutIn, hold, expire };
}

describe.each(['asks', 'listens'] as const)('a holder that %s', (watchfulness) => {
  it('believes until it gives back', async () => {
    const { belief, hold } = believed(watchfulness);
    await expect.poll(() => hold().seenUntil - hold().from).toBeGreaterThan(50);
    belief.end();
    expect(hold().end).toBe('released');
    expect(hold().seenUntil).toBeLessThanOrEqual(sharedNow());
  });

  it('does not believe in the time in which it stood still, when it is told at once after that', async () => {
    const { runOutIn, hold } = believed(watchfulness);
    await pause(50);
    const stoppedAt = sharedNow();
    // Due while the process stands still.
    runOutIn(20);
    blockEventLoop(100);
    await expect.poll(() => hold().end).toBe('lost');
    expect(hold().seenUntil).toBeLessThanOrEqual(stoppedAt);
  });

  it('is held to all the time in which it stood still, when it believes on after that', async () => {
    const { belief, hold } = believed(watchfulness);
    await pause(50);
    blockEventLoop(100);
    const wokenAt = sharedNow();
    await expect.poll(() => hold().seenUntil).toBeGreaterThan(wokenAt);
    belief.end();
  });

  it('does not come to believe in what is gone already', () => {
    const { beliefs, lease, runOut } = believed(watchfulness);
    runOut();
    expect(beliefs.begin(lease, 'exclusive', watchfulness)).toBeUndefined();
  });
});

describe('a holder that asks', () => {
  it('finds out by itself that the time has run out', async () => {
    const { expire, hold } = believed('asks');
    expire();
    await expect.poll(() => hold().end).toBe('lost');
  });
});
