import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockConfigurationError, LockError, LockLostError, LockReentrancyError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { assertHeld, currentLease } from '../../../lib/service/hold-scope.js';
import { startLocks } from './locks.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('currentLease', () => {
  it('is the lease inside, across awaits, and nothing outside', async () => {
    const { locks } = startLocks();
    expect(currentLease()).toBeUndefined();
    await locks.using('a', async (lease) => {
      expect(currentLease()).toBe(lease);
      await turn();
      expect(currentLease()).toBe(lease);
    });
    expect(currentLease()).toBeUndefined();
  });

  it('is the innermost of several keys, and the outer one again afterwards', async () => {
    const { locks } = startLocks();
    await locks.using('a', async () => {
      await locks.using('b', () => expect(currentLease()?.key).toBe('b'));
      expect(currentLease()?.key).toBe('a');
    });
  });

  it('is separate for concurrent callers', async () => {
    const { locks } = startLocks();
    const keys = ['a', 'b', 'c'];
    const seen = keys.map((key) => locks.using(key, async () => (await turn(), currentLease()?.key)));
    expect(await Promise.all(seen)).toEqual(keys);
  });

  it('is undefined for work that was not awaited and outlived its lease', async () => {
    const { locks } = startLocks();
    const mayLook = deferred();
    let detached: Promise<Lease | undefined> | undefined;
    await locks.using('a', () => {
      detached = mayLook.promise.then(() => currentLease());
    });
    mayLook.resolve();
    expect(await detached).toBeUndefined();
  });

  it('is not set by acquire(), which has no work', async () => {
    const { locks } = startLocks();
    await using _lease = await locks.acquire('a');
    expect(currentLease()).toBeUndefined();
  });
});

describe('assertHeld', () => {
  it('returns a held lease, and throws the reason of a lost one', async () => {
    const { locks, backend } = startLocks();
    const lost = new LockLostError('a', 'test');
    expect(() => assertHeld()).toThrow(LockConfigurationError);
    const running = locks.using('a', (lease) => {
      expect(assertHeld()).toBe(lease);
      backend.leaseOn('a')?.lose(lost);
      expect(() => assertHeld()).toThrow(lost);
    });
    await expect(running).rejects.toBe(lost);
  });

  it('throws when its work has released the lease', async () => {
    const { locks } = startLocks();
    await locks.using('a', async (lease) => {
      await lease.release();
      expect(() => assertHeld()).toThrow(LockError);
    });
  });
});

describe('a nested call for a held key', () => {
  it('enters with the outer lease’s token without a request, and cannot release the key', async () => {
    const { locks, backend } = startLocks();
    await locks.using('a', async (outer) => {
      await locks.using('a', async (inner) => {
        expect(currentLease()).toBe(inner);
        expect([inner.key, inner.fencingToken, inner.isHeld()]).toEqual(['a', outer.fencingToken, true]);
        expect(inner.signal).toBe(outer.signal);
        await inner.release();
        await inner[Symbol.asyncDispose]();
        await locks.using('a', (innermost) => expect(innermost.fencingToken).toBe(outer.fencingToken));
      });
      expect([currentLease(), outer.isHeld()]).toEqual([outer, true]);
    });
    expect(backend.requests).toHaveLength(1);
    expect(backend.busyKeys).toEqual([]);
  });

  it('enters also through other keys, and waits in other contexts', async () => {
    const { locks, backend } = startLocks();
    await locks.using('a', () => locks.using('b', () => locks.using('a', () => {})));
    expect(backend.requests.map(({ key }) => key)).toEqual(['a', 'b']);
    const held = await locks.acquire('a');
    const other = locks.using('a', () => 'other');
    await backend.standing('a', 2);
    await held.release();
    expect(await other).toBe('other');
  });

  it('is identified per connection: the same key on another one is another lock', async () => {
    const [one, two] = [startLocks(), startLocks()];
    await one.locks.using('a', () => two.locks.using('a', () => {}));
    expect([one.backend.requests.length, two.backend.requests.length]).toEqual([1, 1]);
  });

  it('lets siblings in one after another', async () => {
    const { locks, backend } = startLocks();
    const events: string[] = [];
    const step = (name: string) =>
      locks.using('a', async () => {
        events.push(`${name} in`);
        await turn();
        events.push(`${name} out`);
      });
    await locks.using('a', () => Promise.all([step('one'), step('two'), step('three')]));
    expect(events).toEqual(['one in', 'one out', 'two in', 'two out', 'three in', 'three out']);
    expect(backend.requests).toHaveLength(1);
  });

  it('lets the next sibling in when the previous one has failed', async () => {
    const { locks } = startLocks();
    const results = await locks.using('a', () =>
      Promise.allSettled([locks.using('a', () => Promise.reject(new TypeError())), locks.using('a', () => 'in')]),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('stops waiting for a sibling by its own deadline or signal, and the next one is served', async () => {
    const { locks } = startLocks();
    const mayLeave = deferred();
    const caller = new AbortController();
    await locks.using('a', async () => {
      const first = locks.using('a', () => mayLeave.promise);
      const late = locks.using('a', () => 'late', { waitMs: 1 });
      const asksOnce = locks.using('a', () => 'once', { waitMs: 0 });
      const aborted = locks.using('a', () => 'aborted', { signal: caller.signal });
      const last = locks.using('a', () => 'last');
      await expect(asksOnce).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 0 });
      await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 1 });
      caller.abort('mine');
      await expect(aborted).rejects.toBe('mine');
      mayLeave.resolve();
      await first;
      expect(await last).toBe('last');
    });
  });

  it('does not enter with a signal that has aborted', async () => {
    const { locks } = startLocks();
    const { read } = locks.readWriteLock('a');
    const signal = AbortSignal.abort('mine');
    await locks.using('a', () => expect(locks.using('a', () => {}, { signal })).rejects.toBe('mine'));
    await read.using(() => expect(read.using(() => {}, { signal })).rejects.toBe('mine'));
  });

  it('reports the loss of the lease to the inner caller too', async () => {
    const { locks, backend } = startLocks();
    const inner = () =>
      locks.using('a', () => {
        backend.leaseOn('a')?.lose(new LockLostError('a', 'test'));
      });
    await locks.using('a', () => expect(inner()).rejects.toMatchObject({ code: 'LOCK_LOST' }), { onLost: 'ignore' });
  });

  it('is refused with reentrant: false, and by acquire() and tryAcquire(), which would deadlock', async () => {
    const { locks, backend } = startLocks();
    await locks.using('a', async (lease) => {
      await expect(locks.using('a', () => {}, { reentrant: false })).rejects.toBeInstanceOf(LockReentrancyError);
      await expect(locks.acquire('a')).rejects.toBeInstanceOf(LockReentrancyError);
      await expect(locks.tryAcquire('a')).rejects.toBeInstanceOf(LockReentrancyError);
      expect(lease.isHeld()).toBe(true);
    });
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a mutex with reentrant: false', () => {
  it('refuses a nested acquisition at once, unless the call overrides it', async () => {
    const { locks, backend } = startLocks();
    const once = locks.mutex('a', { reentrant: false });
    await once.using(async () => {
      await expect(once.using(() => {})).rejects.toBeInstanceOf(LockReentrancyError);
      expect(await once.using(() => 'in', { reentrant: true })).toBe('in');
      expect(await locks.using('a', () => 'in')).toBe('in');
    });
    await once.using(() => once.using(() => {}, { reentrant: true }));
    expect(backend.requests).toHaveLength(2);
    expect(() => locks.mutex('a', { reentrant: 0 as unknown as boolean })).toThrow(LockConfigurationError);
  });
});

describe('work that was not awaited', () => {
  it('keeps the lease when it is inside already', async () => {
    const { locks, backend } = startLocks();
    const mayLeave = deferred();
    let inner: Promise<void> | undefined;
    await locks.using('a', async () => {
      const entered = deferred();
      inner = locks.using('a', () => (entered.resolve(), mayLeave.promise));
      await entered.promise;
    });
    expect(backend.leaseOn('a')?.isHeld()).toBe(true);
    mayLeave.resolve();
    await inner;
    expect(backend.busyKeys).toEqual([]);
  });

  it('gets its own lease when it begins too late', async () => {
    const { locks, backend } = startLocks();
    const mayEnter = deferred();
    let detached: Promise<boolean> | undefined;
    const outer = await locks.using('a', (lease) => {
      detached = mayEnter.promise.then(() =>
        locks.using('a', (own) => own.fencingToken > lease.fencingToken && own.isHeld()),
      );
      return lease;
    });
    mayEnter.resolve();
    expect(await detached).toBe(true);
    expect([outer.state, backend.busyKeys]).toEqual(['released', []]);
  });

  it('gets its own lease when its turn comes too late', async () => {
    const { locks, backend } = startLocks();
    const mayLeave = deferred();
    let detached: Promise<[void, boolean]> | undefined;
    await locks.using('a', (lease) => {
      const first = locks.using('a', () => mayLeave.promise);
      detached = Promise.all([first, locks.using('a', (own) => own.fencingToken > lease.fencingToken && own.isHeld())]);
    });
    mayLeave.resolve();
    expect(await detached).toEqual([undefined, true]);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('reading and writing by one caller', () => {
  it('refuses a reader that wants to write at once', async () => {
    const { locks } = startLocks();
    const { read, write } = locks.readWriteLock('a');
    for (const upgrade of [() => write.using(() => {}), () => locks.using('a', () => {})]) {
      await read.using(() => expect(upgrade()).rejects.toBeInstanceOf(LockReentrancyError));
    }
  });

  it('keeps the writer’s token and mode for a writer that reads', async () => {
    const { locks, backend } = startLocks();
    const { read, write } = locks.readWriteLock('a');
    await write.using((writer) =>
      read.using(async (reader) => {
        expect(reader.fencingToken).toBe(writer.fencingToken);
        await write.using((again) => expect(again.fencingToken).toBe(writer.fencingToken));
      }),
    );
    expect(backend.requests).toHaveLength(1);
  });

  it('does not make a nested reader wait for an outer reader', async () => {
    const { locks } = startLocks();
    const { read } = locks.readWriteLock('a');
    const bothIn = deferred();
    let inside = 0;
    const enter = () => read.using(() => (++inside === 2 ? bothIn.resolve() : undefined, bothIn.promise));
    await read.using(() => Promise.all([enter(), enter()]));
    expect(inside).toBe(2);
  });
});
