import { describe, expect, it, vi } from 'vitest';
import type { Contender } from '../../../lib/contract/contender.js';
import type { LocalCaller } from '../../../lib/local/local-queue.js';
import { withLocalCallers } from '../../../lib/service/contenders.js';
import { settled } from '../local/callers.js';
import { startLocks } from './locks.js';

// The clock is fixed, so the time limit for hand-overs is never reached, however slow the machine is.
vi.mock('../../../lib/async/clock.js', async (original) => ({ ...(await original<object>()), now: () => 1_000 }));

const LOCAL = { localLine: true };

/** The fields that do not depend on a clock. */
const shownBy = async (locks: ReturnType<typeof startLocks>['locks'], key = 'k') =>
  (await locks.contenders(key)).map(({ state, mode, owner, isLocal, isKept }) =>
    [state, mode, owner.label, ...(isLocal ? ['local'] : []), ...(isKept ? ['kept'] : [])].join(' '),
  );

describe('the contenders of a key', () => {
  it('are empty for an unused key', async () => {
    const { locks } = startLocks(LOCAL);
    expect(await locks.contenders('k')).toEqual([]);
  });

  it('are all callers of the process; those in the local queue are marked', async () => {
    const { locks } = startLocks(LOCAL);
    const lease = await locks.acquire('k', { label: 'first' });
    const waits = ['second', 'third'].map((label) => locks.using('k', () => {}, { label }));
    await settled();
    expect(await shownBy(locks)).toEqual([
      'held exclusive first',
      'waiting exclusive second local',
      'waiting exclusive third local',
    ]);
    await lease.release();
    await Promise.all(waits);
    expect(await locks.contenders('k')).toEqual([]);
  });

  it('include local callers of each mode behind the contender of that mode, in queue order', async () => {
    const { locks } = startLocks(LOCAL);
    const { read, write } = locks.readWriteLock('k');
    const readers = [await read.acquire({ label: 'r1' }), await read.acquire({ label: 'r2' })];
    const waits = [write.using(() => {}, { label: 'w1' }), write.using(() => {}, { label: 'w2' })];
    await settled();
    expect(await shownBy(locks)).toEqual([
      'held read r1',
      'held read r2 local',
      'waiting write w1',
      'waiting write w2 local',
    ]);
    for (const lease of readers) await lease.release();
    await Promise.all(waits);
  });

  it('are listed one by one in strict order', async () => {
    const { locks } = startLocks({ localLine: false });
    const lease = await locks.acquire('k', { label: 'first' });
    const wait = locks.using('k', () => {}, { label: 'second' });
    await settled();
    expect(await shownBy(locks)).toEqual(['held exclusive first', 'waiting exclusive second']);
    await lease.release();
    await wait;
  });

  it('have the time of their calls', async () => {
    const { locks } = startLocks(LOCAL);
    const before = Date.now();
    const lease = await locks.acquire('k');
    const wait = locks.using('k', () => {});
    await settled();
    for (const { since } of await locks.contenders('k')) {
      expect(since.getTime()).toBeGreaterThanOrEqual(before);
      expect(since.getTime()).toBeLessThanOrEqual(Date.now());
    }
    await lease.release();
    await wait;
  });
});

describe('the contenders of a key while the connection is suspended', () => {
  /** Suspends the lease that the backend granted last. */
  const suspend = async ({ backend }: ReturnType<typeof startLocks>) => {
    backend.leaseOn('k')?.suspend();
    await settled();
  };

  it('still include all readers that hold it together', async () => {
    const started = startLocks(LOCAL);
    const { read } = started.locks.readWriteLock('k');
    const readers = [await read.acquire({ label: 'r1' }), await read.acquire({ label: 'r2' })];
    await suspend(started);
    expect(await shownBy(started.locks)).toEqual(['held read r1', 'held read r2 local']);
    for (const lease of readers) await lease.release();
    expect(await started.locks.contenders('k')).toEqual([]);
  });

  it('are the caller that holds after a hand-over, and callers that queue later', async () => {
    const started = startLocks(LOCAL);
    const first = await started.locks.acquire('k', { label: 'first' });
    const second = started.locks.acquire('k', { label: 'second' });
    await first.release();
    const lease = await second;
    await suspend(started);
    const third = started.locks.acquire('k', { label: 'third' });
    await settled();
    expect(await shownBy(started.locks)).toEqual(['held exclusive second', 'waiting exclusive third']);
    await lease.release();
    await (await third).release();
  });
});

describe('callers in a local queue', () => {
  const contender = (state: Contender['state']): Contender => {
    const owner = { label: 'the contender’s' };
    return { state, mode: 'exclusive', owner, since: new Date(), isOwn: true, isLocal: false, isKept: false };
  };
  const caller = (state: LocalCaller['state'], label: string): LocalCaller => ({ state, label, since: new Date() });
  const shown = (contenders: readonly Contender[], callers: LocalCaller[], leases = 1) =>
    withLocalCallers(contenders, () => ({ callers, isKept: false, leases })).map(({ state, owner, isLocal }) =>
      [state, owner.label, ...(isLocal ? ['local'] : [])].join(' '),
    );

  it('do not hide, while they wait, that their contender holds', () => {
    expect(shown([contender('held')], [caller('waiting', 'w')])).toEqual(['held the contender’s', 'waiting w local']);
  });

  it('are listed once, where they share several contenders', () => {
    const readers = [caller('held', 'r1'), caller('held', 'r2')];
    const contenders = [contender('held'), contender('held'), contender('waiting')];
    expect(shown(contenders, readers, 2)).toEqual(['held r1', 'held r2 local', 'waiting the contender’s']);
  });

  it('hide no contender of a lock without a local queue', () => {
    expect(shown([contender('held'), contender('held')], [caller('held', 'r1')])).toEqual([
      'held r1',
      'held the contender’s',
    ]);
  });

  it('are listed in place of their contender, the holders before the waiters', () => {
    expect(shown([contender('held')], [caller('held', 'h'), caller('waiting', 'w')])).toEqual([
      'held h',
      'waiting w local',
    ]);
  });
});
