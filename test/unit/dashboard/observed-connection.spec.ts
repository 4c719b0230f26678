import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { channels } from '../../../lib/contract/channels.js';
import { resolveDashboardOptions } from '../../../lib/dashboard/dashboard.options.js';
import { KeyNames } from '../../../lib/dashboard/key-names.js';
import { ObservedConnection } from '../../../lib/dashboard/observed-connection.js';
import { connectionOf } from '../../../lib/service/lock.service.js';
import { startServices } from '../events/services.js';

vi.mock('../../../lib/async/clock.js', async (original) => ({
  ...(await original<object>()),
  now: () => Date.now(),
}));

const MINUTE_MS = 60_000;

/** A connection without another listener, and whether the page listens. */
function observedConnection() {
  const { locks, referee } = startServices();
  referee.stop();
  const options = resolveDashboardOptions({});
  const observed = new ObservedConnection(
    { locks, connection: connectionOf(locks), runs: async () => [] },
    new KeyNames(options),
    options,
  );
  return { locks, observed, listens: () => channels.requestStart.hasSubscribers };
}

describe('the watch on this process', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('ends ten minutes after the last poll, and leaves no timer', async () => {
    const { observed, listens } = observedConnection();
    const timers = vi.getTimerCount();
    observed.polled();
    await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
    observed.polled();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1_000);
    expect(listens()).toBe(true);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(listens()).toBe(false);
    expect(vi.getTimerCount()).toBe(timers);
    for (const channel of Object.values(channels)) expect(channel.hasSubscribers).toBe(false);
  });

  it('is one for all polls, and begins again empty after its end', async () => {
    const { locks, observed, listens } = observedConnection();
    const watch = observed.polled();
    expect(observed.polled()).toBe(watch);
    await locks.using('k', () => {});
    const grants = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
    expect(grants(observed.process.waits.counts)).toBe(1);
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    expect(listens()).toBe(false);
    expect(grants(observed.process.waits.counts)).toBe(0);
    expect(listens()).toBe(true);
    observed.stop();
  });
});
