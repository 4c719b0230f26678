import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockReentrancyError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { Lock, UsingOptions } from '../../../lib/contract/lock.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { HoldScope } from '../../../lib/service/hold-scope.js';
import { startLocks } from './locks.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Calls for one key, and the order in which they begin and end. */
function startCalls() {
  const { locks, backend } = startLocks({ waitMs: 5_000 });
  const events: string[] = [];
  const call = <T>(name: string, work: (lease: Lease) => T | Promise<T>, options?: UsingOptions) =>
    locks.using(
      'a',
      async (lease) => {
        events.push(`${name} in`);
        try {
          return await work(lease);
        } finally {
          events.push(`${name} out`);
        }
      },
      options,
    );
  const failed = () => Promise.reject(new TypeError('failed'));
  return { locks, backend, events, call, failed };
}

describe('a nested call that gives up while a sibling is stuck', () => {
  it('leaves the line as it was', async () => {
    const scope = new HoldScope();
    await scope.turn(new AbortController().signal);
    const stuck = scope.lastInLine;
    const aborting = new AbortController();
    const given = scope.turn(aborting.signal);
    expect(scope.lastInLine).not.toBe(stuck);
    aborting.abort('no');
    await expect(given).rejects.toBe('no');
    expect(scope.lastInLine).toBe(stuck);
  });
});

describe('a nested call that ends before the calls that have entered inside it', () => {
  it('keeps its place, so that its sibling waits for them', async () => {
    const { call, events, failed } = startCalls();
    const mayEnd = deferred();
    await call('a', async () => {
      const b = call('b', () => Promise.all([call('y', () => mayEnd.promise), turn().then(failed)]));
      const c = call('c', () => {});
      await expect(b).rejects.toBeInstanceOf(TypeError);
      await turn();
      mayEnd.resolve();
      await c;
    });
    expect(events).toEqual(['a in', 'b in', 'y in', 'b out', 'y out', 'c in', 'c out', 'a out']);
  });

  it('keeps its place for a call that comes after it has failed', async () => {
    const { call, events, failed } = startCalls();
    const mayEnd = deferred();
    await call('a', async () => {
      await call('b', () => Promise.all([call('y', () => mayEnd.promise), turn().then(failed)])).catch(() => {});
      const c = call('c', () => {});
      await turn();
      mayEnd.resolve();
      await c;
    });
    expect(events).toEqual(['a in', 'b in', 'y in', 'b out', 'y out', 'c in', 'c out', 'a out']);
  });

  it('keeps its place for calls at any depth', async () => {
    const { call, events, failed } = startCalls();
    const mayEnd = deferred();
    await call('a', async () => {
      const y = () => call('y', () => Promise.all([call('z', () => mayEnd.promise), turn().then(failed)]));
      await call('b', () => Promise.all([y(), call('x', () => {})])).catch(() => {});
      const c = call('c', () => {});
      await turn();
      mayEnd.resolve();
      await c;
    });
    const afterwards = ['y out', 'b out', 'z out', 'x in', 'x out', 'c in', 'c out', 'a out'];
    expect(events).toEqual(['a in', 'b in', 'y in', 'z in', ...afterwards]);
  });

  it('makes its sibling wait within its own limits, and the order stays when that one gives up', async () => {
    const { call, events, failed } = startCalls();
    const mayEnd = deferred();
    const caller = new AbortController();
    await call('a', async () => {
      await call('b', () => Promise.all([call('y', () => mayEnd.promise), turn().then(failed)])).catch(() => {});
      const once = call('once', () => {}, { waitMs: 0 });
      const late = call('late', () => {}, { waitMs: 1 });
      const aborted = call('aborted', () => {}, { signal: caller.signal });
      const last = call('last', () => {});
      await expect(once).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 0 });
      await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 1 });
      caller.abort('mine');
      await expect(aborted).rejects.toBe('mine');
      await turn();
      mayEnd.resolve();
      await last;
      await call('free', () => {}, { waitMs: 0 });
    });
    const afterwards = ['y out', 'last in', 'last out', 'free in', 'free out', 'a out'];
    expect(events).toEqual(['a in', 'b in', 'y in', 'b out', ...afterwards]);
  });
});

describe('a nested call whose turn comes when the call that it was made in has ended', () => {
  it('enters the lease that a call further out still holds', async () => {
    const { call, backend } = startCalls();
    await call('a', async ({ fencingToken }) => {
      const begun: Promise<bigint>[] = [];
      const begin = () => begun.push(call('c', (lease) => lease.fencingToken));
      await call('b', () => void (begin(), begin()));
      expect(await Promise.all(begun)).toEqual([fencingToken, fencingToken]);
    });
    expect([backend.requests.length, backend.busyKeys]).toEqual([1, []]);
  });

  it('runs before the next sibling when a call in front of it has failed', async () => {
    const { call, events, failed, backend } = startCalls();
    await call('a', async () => {
      await call('b', () => Promise.all([call('x', failed), call('y', turn)])).catch(() => {});
      await call('c', () => {});
    });
    expect(events).toEqual(['a in', 'b in', 'x in', 'x out', 'b out', 'y in', 'y out', 'c in', 'c out', 'a out']);
    expect(backend.requests).toHaveLength(1);
  });

  it.each<[string, (locks: LockService) => readonly Pick<Lock, 'using'>[]]>([
    ['a reader in a writer', (locks) => [locks.readWriteLock('a').write, locks.readWriteLock('a').read]],
    ['a segment', (locks) => [locks.segmented('a', { segments: 1 })]],
    ['several keys', (locks) => [locks.multi(['a', 'b'])]],
    ['an atomic set', (locks) => [locks.multi(['a', 'b'], { atomic: true })]],
  ])('enters also: %s', async (_, locksOf) => {
    const { locks, backend } = startCalls();
    const [outer, inner = outer] = locksOf(locks);
    await outer?.using(async () => {
      const requests = backend.requests.length;
      const begun: (Promise<string> | undefined)[] = [];
      const begin = () => begun.push(inner?.using(() => 'in'));
      await outer.using(() => void (begin(), begin()));
      expect(await Promise.all(begun)).toEqual(['in', 'in']);
      expect(backend.requests).toHaveLength(requests);
    });
    expect(backend.busyKeys).toEqual([]);
  });

  it('is refused to write when the call further out only reads', async () => {
    const { locks } = startCalls();
    const { read, write } = locks.readWriteLock('a');
    const [isWriting, mayEnd] = [deferred(), deferred()];
    let reading: Promise<unknown> | undefined;
    await write.using(() => {
      reading = read.using(async () => {
        const begun: Promise<unknown>[] = [];
        await write.using(() => {
          begun.push(write.using(() => (isWriting.resolve(), mayEnd.promise)));
          begun.push(write.using(() => {}));
          return isWriting.promise;
        });
        return Promise.allSettled(begun);
      });
      return isWriting.promise;
    });
    await turn();
    mayEnd.resolve();
    const refusal = { status: 'rejected', reason: expect.any(LockReentrancyError) };
    expect(await reading).toEqual([{ status: 'fulfilled' }, refusal]);
  });

  it('takes its turn in a global transaction that has locked the key meanwhile', async () => {
    const { locks, call, events } = startCalls();
    const [isInside, mayEnd, siblingMayEnd] = [deferred(), deferred(), deferred()];
    await locks.globalTransaction(async (transaction) => {
      const begun: Promise<unknown>[] = [];
      await call('a', (lease) => {
        begun.push(call('x', () => (isInside.resolve(), mayEnd.promise)));
        begun.push(call('late', turn));
        return isInside.promise.then(() => lease.release());
      });
      await transaction.lock('a');
      const sibling = call('sibling', () => siblingMayEnd.promise);
      await turn();
      mayEnd.resolve();
      await begun[0];
      await turn();
      siblingMayEnd.resolve();
      await Promise.all([...begun, sibling]);
    });
    const afterwards = ['x out', 'sibling out', 'late in', 'late out'];
    expect(events).toEqual(['a in', 'x in', 'a out', 'sibling in', ...afterwards]);
  });
});
