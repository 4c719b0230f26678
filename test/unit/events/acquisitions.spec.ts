import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { channels } from '../../../lib/contract/channels.js';
import type { ObservedRequest, RequestGrantEvent, RequestMissEvent } from '../../../lib/contract/channels.js';
import { LockLostError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { settled } from '../local/callers.js';
import { faultsOf } from './event-referee.js';
import { startServices } from './services.js';

/** Subscribes until the test has finished. */
function subscribed<E>(channel: { subscribe(l: (e: E) => void): void; unsubscribe(l: (e: E) => void): boolean }) {
  const events: E[] = [];
  const listener = (event: E) => void events.push(event);
  channel.subscribe(listener);
  onTestFinished(() => void channel.unsubscribe(listener));
  return events;
}

describe('the events of an acquisition', () => {
  it('are start, grant, hold and end, with the work after the grant', async () => {
    const { locks, referee } = startServices();
    await locks.using('k', (lease) => referee.work(lease), { label: 'Orders.place' });
    expect(referee.texts).toEqual(['start', 'grant', 'hold', 'work', 'end released']);
    expect(faultsOf(referee.notes)).toEqual([]);
    expect(referee.notes[0]?.request).toEqual({
      key: 'k',
      name: 'Orders.place',
      label: 'Orders.place',
      kind: 'lock',
      mode: 'exclusive',
      line: 'fifo',
      permits: undefined,
      waitMs: 60_000,
    });
  });

  it('name a request without a label "unnamed"', async () => {
    const { locks, referee } = startServices();
    await (await locks.acquire('k')).release();
    expect(referee.notes[0]?.request).toMatchObject({ name: 'unnamed', label: undefined });
  });

  it('tell the number of the hand-over in the process, and how long the caller waited', async () => {
    const grants = subscribed<RequestGrantEvent>(channels.requestGrant);
    const { locks } = startServices();
    await Promise.all(Array.from({ length: 50 }, () => locks.acquire('k').then((lease) => lease.release())));
    const handOvers = grants.map(({ handOver }) => handOver);
    expect(handOvers[0]).toBe(0);
    expect(Math.max(...handOvers)).toBeGreaterThan(0);
    expect(handOvers).toEqual(grants.map(({ lease }) => Number(lease.fencingToken % 65_536n)));
    expect(grants.every(({ waitedMs }) => waitedMs >= 0)).toBe(true);
    expect(grants[0]).toMatchObject({ connection: 'default', origin: locks.origin });
  });

  it('end before the key is handed to the next caller of the process', async () => {
    const { locks, referee } = startServices();
    const first = await locks.acquire('k');
    const second = locks.acquire('k');
    await settled();
    await first.release();
    await (await second).release();
    expect(referee.texts).toEqual(['start', 'grant', 'start', 'end released', 'grant', 'end released']);
  });

  it.each([
    ['busy', 0],
    ['timeout', 5],
  ])('end with a miss: %s', async (reason, waitMs) => {
    const misses = subscribed<RequestMissEvent>(channels.requestMiss);
    const { locks, referee } = startServices();
    await using _held = await locks.acquire('k');
    await expect(locks.acquire('k', { waitMs })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await locks.tryAcquire('k', { waitMs })).toBeNull();
    expect(referee.texts.slice(2)).toEqual(['start', `miss ${reason}`, 'start', `miss ${reason}`]);
    expect(misses.map(({ error }) => error !== undefined)).toEqual(Array(2).fill(reason === 'timeout'));
  });

  it.each([{ localLine: true }, { localLine: false }])(
    'end with a miss when the caller gives up: %j',
    async (sharing) => {
      const { locks, referee } = startServices(sharing);
      await using _held = await locks.acquire('k');
      const giveUp = new AbortController();
      const reason = new Error('no more');
      const waiting = locks.acquire('k', { signal: giveUp.signal });
      await settled();
      giveUp.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      expect(referee.texts.slice(2)).toEqual(['start', 'miss aborted']);
    },
  );

  it('end with a miss at the shutdown, for callers that wait and for those that come later', async () => {
    const { locks, referee, close } = startServices({ drainTimeoutMs: 0 });
    await locks.acquire('k');
    const waiting = expect(locks.acquire('k')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await settled();
    await close();
    await waiting;
    await expect(locks.acquire('other')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await expect(locks.multi(['a', 'b'], { atomic: true }).acquire()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(referee.texts.filter((text) => text.startsWith('miss'))).toEqual(Array(4).fill('miss shutdown'));
    expect(faultsOf(referee.notes)).toEqual([]);
  });

  it('end with a miss when the backend fails', async () => {
    const { locks, backend, referee } = startServices();
    vi.spyOn(backend, 'acquire').mockRejectedValue(new Error('the backend is broken'));
    await expect(locks.acquire('k')).rejects.toThrow('broken');
    await expect(locks.tryAcquire('k')).rejects.toThrow('broken');
    expect(referee.texts).toEqual(['start', 'miss error', 'start', 'miss error']);
  });

  it.each([{ localLine: true }, { localLine: false }])(
    'end with a miss when no server is in reach: %j',
    async (sharing) => {
      const misses = subscribed<RequestMissEvent>(channels.requestMiss);
      const { locks, backend, referee } = startServices(sharing);
      const unavailable = new LockUnavailableError('no server answers', { key: 'k' });
      vi.spyOn(backend, 'acquire').mockRejectedValue(unavailable);
      await expect(locks.acquire('k')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await expect(locks.tryAcquire('k')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect(referee.texts).toEqual(['start', 'miss unavailable', 'start', 'miss unavailable']);
      for (const { error } of misses) expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    },
  );

  it('include what happens to the lease', async () => {
    const { locks, backend, referee } = startServices();
    const lease = await locks.acquire('k');
    const own = backend.leaseOn('k');
    own?.suspend();
    own?.resume();
    await settled();
    own?.lose(new LockLostError('k', 'test'));
    await settled();
    expect(lease.isHeld()).toBe(false);
    expect(referee.texts).toEqual(['start', 'grant', 'suspended', 'resumed', 'lost', 'end lost']);
  });

  it('include that the lease is asked for, and that it was held for too long', async () => {
    const { locks, referee } = startServices();
    const overdue = subscribed<{ limit: string; limitMs: number }>(channels.leaseOverdue);
    const lease = await locks.mutex('k', { warnHeldMs: 1, maxHeldMs: 2, overdueGraceMs: 1 }).acquire();
    await vi.waitFor(() => expect(lease.state).toBe('lost'));
    expect(referee.texts).toEqual(['start', 'grant', 'overdue', 'overdue', 'revoking', 'lost', 'end lost']);
    expect(overdue).toMatchObject([
      { limit: 'warnHeldMs', limitMs: 1 },
      { limit: 'maxHeldMs', limitMs: 2 },
    ]);
  });

  it('are not published for a nested call, which acquires nothing', async () => {
    const { locks, referee } = startServices();
    await locks.using('k', () => locks.using('k', (lease) => expect(lease.isHeld()).toBe(true)));
    expect(referee.texts).toEqual(['start', 'grant', 'hold', 'end released']);
  });

  it('are whole: an acquisition that began unseen has none', async () => {
    const { locks, referee } = startServices();
    referee.stop();
    const unseen = await locks.acquire('k');
    const ends = subscribed(channels.requestEnd);
    subscribed(channels.requestStart);
    await unseen.release();
    expect(ends).toEqual([]);
  });

  it('come from every kind of lock', async () => {
    const { locks, elections, coordination, referee } = startServices();
    await locks.readWriteLock('k').read.using(() => {});
    await locks.semaphore('s', { permits: 3 }).using(() => {}, { permits: 2 });
    await locks.segmented('g', { segments: 2 }).using(() => {});
    await locks.multi(['a', 'b']).using(() => {});
    await locks.multi(['a', 'b'], { atomic: true }).using(() => {});
    await (await elections.campaign('e')).resign();
    await coordination.queue('q').put(1);
    await (await coordination.queue('q').take())?.ack();
    await coordination.doubleBarrier('d', { count: 1 }).using(() => {});
    const kinds = referee.notes.filter(({ what }) => what === 'grant').map(({ request }) => request?.kind);
    expect(kinds).toEqual(['lock', 'semaphore', 'segment', 'set', 'set', 'set', 'set', 'leader', 'queue', 'barrier']);
    expect(referee.notes.find(({ request }) => request?.kind === 'semaphore')?.request).toMatchObject({ permits: 2 });
    expect(faultsOf(referee.notes)).toEqual([]);
  });
});

describe('the async context of an event', () => {
  /** The contexts at the start and at the grant of the second of two callers that hand a key over. */
  async function contexts() {
    const requestId = new AsyncLocalStorage<string>();
    const atStart = new WeakMap<ObservedRequest, string | undefined>();
    const seen: { handOver: number; kept: string | undefined; present: string | undefined }[] = [];
    const { locks } = startServices();
    const started = ({ request }: { request: ObservedRequest }) => void atStart.set(request, requestId.getStore());
    const granted = ({ request, handOver }: RequestGrantEvent) =>
      void seen.push({ handOver, kept: atStart.get(request), present: requestId.getStore() });
    channels.requestStart.subscribe(started);
    channels.requestGrant.subscribe(granted);
    onTestFinished(() => {
      channels.requestStart.unsubscribe(started);
      channels.requestGrant.unsubscribe(granted);
    });
    // On a slow machine, the limit on hand-overs may end the lease between the two.
    while (!(Number(seen.at(-1)?.handOver) > 0)) {
      const first = await requestId.run('one', () => locks.acquire('k'));
      const second = requestId.run('two', () => locks.acquire('k'));
      await settled();
      await requestId.run('one', () => first.release());
      await (await second).release();
    }
    return seen.at(-1);
  }

  it('is the waiting caller’s at the start', async () => {
    expect((await contexts())?.kept).toBe('two');
  });

  it('is the releasing caller’s at the grant, so a subscriber must not read it there', async () => {
    expect((await contexts())?.present).toBe('one');
  });
});

describe('the work under a lease', () => {
  const around = (wrapper: <T>(work: () => T) => T) => {
    const listener = (event: { around(w: typeof wrapper): void }) => event.around(wrapper);
    channels.hold.subscribe(listener);
    onTestFinished(() => void channels.hold.unsubscribe(listener));
  };

  it('runs inside what subscribers put around it, the first one outermost', async () => {
    const { locks } = startServices();
    const [outer, inner] = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
    around((work) => outer.run('outer', work));
    around((work) => inner.run(`inside ${outer.getStore()}`, work));
    const work = async () => {
      await settled();
      return `${outer.getStore()}, ${inner.getStore()}`;
    };
    expect(await locks.using('k', work)).toBe('outer, inside outer');
    expect(await locks.multi(['a', 'b'], { atomic: true }).using(work)).toBe('outer, inside outer');
    expect(await locks.semaphore('s', { permits: 1 }).using(work)).toBe('outer, inside outer');
    expect(outer.getStore()).toBeUndefined();
  });

  it.each<[string, <T>(work: () => T) => T]>([
    ['throws', () => expect.unreachable('as the test wants it')],
    ['does not call the work', () => undefined as never],
    ['calls it twice', (work) => (work(), work())],
    [
      'throws after it',
      (work) => {
        work();
        throw new Error('late');
      },
    ],
  ])('runs once, with its own result, when a subscriber %s', async (_what, wrapper) => {
    const { locks, referee } = startServices();
    around(wrapper);
    let runs = 0;
    expect(await locks.using('k', () => ++runs)).toBe(1);
    const failure = new Error('of the work');
    await expect(locks.using('k', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(faultsOf(referee.notes)).toEqual([]);
  });
});
