import { channel } from 'node:diagnostics_channel';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { channels } from '../../../lib/contract/channels.js';
import type { EventChannel } from '../../../lib/contract/channels.js';
import { settled } from '../local/callers.js';
import { startServices } from './services.js';

/** The functions of this package that have read the clock, by the names of their files. */
const readers = vi.hoisted(() => new Set<string>());

vi.mock('../../../lib/async/clock.js', async (load) => {
  const clock = await load<typeof import('../../../lib/async/clock.js')>();
  const now = () => {
    const [, , caller = ''] = String(new Error('of the clock').stack).split('\n');
    readers.add(/at (?:new )?(\S+).*\/([\w-]+)\.ts/.exec(caller)?.slice(1).join(' in ') ?? caller);
    return clock.now();
  };
  return { ...clock, now };
});

beforeEach(() => readers.clear());

/** All channels of the package. */
const all = Object.values(channels) as unknown as EventChannel<never>[];

/** The number of events that were made, whether or not a channel has a subscriber. */
function countEvents(): () => number {
  const spies = all.map((one) => vi.spyOn(one, 'publish'));
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

/** A use of everything that publishes. */
async function useAll(): Promise<void> {
  const { locks, backend, elections, coordination, referee, close } = startServices({ drainTimeoutMs: 0 });
  if (!isListening) referee.stop();
  const callers = Array.from({ length: 20 }, () => locks.using('k', async () => settled()));
  expect(await locks.tryAcquire('k')).toBeNull();
  await Promise.all(callers);
  await locks.acquire('lost');
  backend.leaseOn('lost')?.suspend();
  backend.leaseOn('lost')?.revoke();
  await locks.revoke('lost', { graceMs: 0 });
  await locks.multi(['a', 'b'], { atomic: true }).using(() => {});
  await (await elections.campaign('e')).resign();
  await coordination.queue('q').put(1);
  await (await coordination.queue('q').take())?.ack();
  const stock = locks.stock('s', { segments: 1 });
  await stock.restock(1);
  await stock.refund((await stock.deduct(1)) ?? expect.unreachable());
  await locks.onModuleInit();
  await close();
}
let isListening = false;

/** The readers of the clock that are there for events only. */
const forEvents = () =>
  [...readers].filter((reader) => /observation|LocalUse|SharedLease\.grant|giveBack|in waiting$/.test(reader));

describe('while nobody listens', () => {
  it('no event is made, and no clock is read for one', async () => {
    isListening = false;
    const events = countEvents();
    await useAll();
    expect(all.some(({ hasSubscribers }) => hasSubscribers)).toBe(false);
    expect(events()).toBe(0);
    expect(forEvents()).toEqual([]);
    expect(readers.size).toBeGreaterThan(0);
  });
});

describe('while somebody listens', () => {
  it('events are made and clocks are read, so the test above would see them', async () => {
    isListening = true;
    onTestFinished(() => void (isListening = false));
    const listener = () => {};
    for (const one of all) one.subscribe(listener);
    onTestFinished(() => all.forEach((one) => one.unsubscribe(listener)));
    const events = countEvents();
    await useAll();
    expect(events()).toBeGreaterThan(100);
    expect(forEvents().join()).toMatch(/observation/);
    expect(forEvents().join()).toMatch(/LocalUse/);
    expect(forEvents().join()).toMatch(/grant|giveBack/);
    expect(forEvents()).toContainEqual(expect.stringMatching(/in waiting$/));
  });

  it('every channel is the one of its name, which other copies of the package use as well', () => {
    for (const { name } of all) expect(all).toContain(channel(name));
    expect(all.map(({ name }) => String(name)).every((name) => name.startsWith('nestjs-distributed-lock:'))).toBe(true);
  });
});
