import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MultiLock } from '../../../lib/composite/multi-lock.js';
import { LockLostError, LockTimeoutError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { AcquireOptions, Lock } from '../../../lib/contract/lock.js';
import { callScope } from '../../../lib/service/held-leases.js';
import { HoldWatch } from '../../../lib/service/hold-watch.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from '../service/locks.js';
import { keyOf, startSegments } from './segments.js';

const lost = (key: string) => new LockLostError(key, 'the test said so');
const KEYS = ['a', 'b'];

/** A way to acquire a set and to release it at once. Resolves to whether every lease was held. */
type Take = (locks: LockService, options?: AcquireOptions) => Promise<boolean>;

const stands = (set: Lease) => set.isHeld() && set.state === 'held' && !set.signal.aborted;

const WAYS: readonly (readonly [string, Take])[] = [
  ['using', (locks, options) => locks.multi(KEYS).using(stands, options)],
  [
    'acquire',
    async (locks, options) => {
      await using set = await locks.multi(KEYS).acquire(options);
      return stands(set);
    },
  ],
];

/** A set that holds `a` and waits for `b`. */
async function waitingSet(take: Take, options?: AcquireOptions) {
  const { locks, backend } = startLocks();
  const blocker = await locks.acquire('b');
  const taken = take(locks, options);
  taken.catch(() => {});
  await backend.standing('b', 2);
  const first = backend.leaseOn('a') ?? expect.unreachable();
  return { locks, backend, blocker, taken, first };
}

describe.each(WAYS)('a set that does not have all of its keys yet: %s', (_, take) => {
  it('leaves the queue it waits in when a key is lost, and lines up again for all of them', async () => {
    const { backend, blocker, taken, first } = await waitingSet(take);
    first.lose(lost('a'));
    await backend.standing('b', 1);
    await backend.standing('b', 2);
    expect(backend.leaseOn('a')?.fencingToken).toBeGreaterThan(first.fencingToken);
    await blocker.release();
    expect(await taken).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('gives a key back at once that is revoked, and lines up again behind the request for it', async () => {
    const { locks, backend, blocker, taken } = await waitingSet(take);
    const next = locks.acquire('a');
    await locks.revoke('a', { graceMs: Infinity });
    const lease = await next;
    await backend.standing('a', 2);
    await lease.release();
    await backend.standing('b', 2);
    await blocker.release();
    expect(await taken).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('queues once per round for each key, and begins no round without a cause', async () => {
    const { backend, blocker, taken, first } = await waitingSet(take);
    const asked = () => backend.requests.slice(1).map(({ key }) => key);
    expect(asked()).toEqual(['a', 'b']);
    first.lose(lost('a'));
    await backend.standing('b', 1);
    await backend.standing('b', 2);
    backend.leaseOn('a')?.lose(lost('a'));
    await backend.standing('b', 1);
    await backend.standing('b', 2);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(asked()).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
    await blocker.release();
    expect(await taken).toBe(true);
  });

  it('has one deadline for all of its rounds, and leaves no contender', async () => {
    const { backend, taken, first } = await waitingSet(take, { waitMs: 200 });
    first.lose(lost('a'));
    await expect(taken).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 200 });
    expect(backend.busyKeys).toEqual(['b']);
  });

  it('rejects with the caller’s own reason after a broken round, and leaves every queue first', async () => {
    const caller = new AbortController();
    const { backend, taken, first } = await waitingSet(take, { signal: caller.signal });
    first.lose(lost('a'));
    await backend.standing('b', 1);
    await backend.standing('b', 2);
    caller.abort('mine');
    await expect(taken).rejects.toBe('mine');
    expect(backend.busyKeys).toEqual(['b']);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  });

  it.each(['lost', 'revoked'])(
    'rejects with the caller’s own reason when that is another lease that was %s',
    async (how) => {
      const { locks, backend } = startLocks();
      await locks.acquire('b');
      const job = await locks.acquire('job');
      const taken = take(locks, { signal: job.signal, waitMs: Infinity });
      await backend.standing('b', 2);
      if (how === 'lost') backend.leaseOn('job')?.lose(lost('job'));
      else backend.leaseOn('job')?.revoke();
      await expect(taken).rejects.toBe(job.signal.reason);
      expect(backend.leaseOn('a')).toBeUndefined();
    },
  );

  it('queues again when a key is lost in the same moment as the last grant', async () => {
    const { backend, blocker, taken, first } = await waitingSet(take);
    const released = blocker.release();
    first.lose(lost('a'));
    await released;
    expect(await taken).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects at shutdown in a later round, too', async () => {
    const { locks, backend, taken, first } = await waitingSet(take);
    first.lose(lost('a'));
    locks.beforeApplicationShutdown();
    await expect(taken).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(backend.busyKeys).toEqual(['b']);
  });
});

describe('a set that does not wait', () => {
  /** Loses `a` while `b` is being acquired. */
  function losing(locks: LockService): MultiLock {
    const mutex = locks.mutex('b');
    const b: Lock = {
      acquire: async (options) => {
        first?.();
        return mutex.acquire(options);
      },
      tryAcquire: (options) => mutex.tryAcquire(options),
      using: (work, options) => mutex.using(work, options),
    };
    const members = [
      { key: 'a', identity: 'a', lock: locks.mutex('a') },
      { key: 'b', identity: 'b', lock: b },
    ];
    return new MultiLock(members, 60_000, callScope(new HoldWatch(() => {}), {}));
  }
  let first: (() => void) | undefined;

  it('is not granted when it loses a key while it acquires the others', async () => {
    const { locks, backend } = startLocks();
    first = () => backend.leaseOn('a')?.lose(lost('a'));
    expect(await losing(locks).tryAcquire()).toBeNull();
    const refused = losing(locks).acquire({ waitMs: 0 });
    await expect(refused).rejects.toThrow('"a, b" was lost or revoked before all of its keys were there');
    await expect(refused).rejects.toBeInstanceOf(LockTimeoutError);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a set with a key that an outer call holds', () => {
  it('rejects at once with the loss when that key is lost', async () => {
    const { locks, backend } = startLocks();
    await using _blocker = await locks.acquire('b');
    const gone = lost('a');
    const outer = locks.using('a', async () => {
      const inner = locks.multi(KEYS).using(() => expect.unreachable());
      await backend.standing('b', 2);
      backend.leaseOn('a')?.lose(gone);
      await expect(inner).rejects.toBe(gone);
      expect(backend.contenders('b')).toHaveLength(1);
    });
    await expect(outer).rejects.toBe(gone);
  });

  it('continues to wait when that key is revoked, since only the outer call can release it', async () => {
    const { locks, backend } = startLocks();
    const blocker = await locks.acquire('b');
    let revoked: Promise<void> | undefined;
    await locks.using('a', async (outer) => {
      const inner = locks.multi(KEYS).using((set) => [set.isHeld(), set.state]);
      await backend.standing('b', 2);
      const elsewhere = backend.revoke('a', { graceMs: Infinity, signal: undefined });
      revoked = elsewhere;
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      expect(outer.state).toBe('revoking');
      expect(backend.requests.map(({ key }) => key)).toEqual(['b', 'a', 'b']);
      await blocker.release();
      expect(await inner).toEqual([true, 'revoking']);
    });
    await revoked;
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects with the loss also when that key was revoked before', async () => {
    const { locks, backend } = startLocks();
    const blocker = await locks.acquire('b');
    const outer = locks.using('a', async () => {
      const inner = locks.multi(KEYS).using(() => expect.unreachable(), { waitMs: Infinity });
      await backend.standing('b', 2);
      backend.leaseOn('a')?.revoke();
      backend.leaseOn('a')?.lose(lost('a'));
      await blocker.release();
      await expect(inner).rejects.toMatchObject({ code: 'LOCK_LOST', key: 'a' });
    });
    await expect(outer).rejects.toMatchObject({ code: 'LOCK_REVOKED' });
  });

  it('acquires that key itself when the outer call releases it meanwhile', async () => {
    const { locks, backend } = startLocks();
    const blocker = await locks.acquire('b');
    await locks.using('a', async (outer) => {
      const inner = locks.multi(KEYS).using((set) => set.leases.map((lease) => [lease.isHeld(), lease.fencingToken]));
      await backend.standing('b', 2);
      await outer.release();
      await blocker.release();
      const [[isHeld, token] = []] = await inner;
      expect(isHeld).toBe(true);
      expect(token).toBeGreaterThan(outer.fencingToken);
    });
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('the leases of a set that cannot be acquired', () => {
  it('are all released, and the acquisition rejects with the cause even if a release fails', async () => {
    const { locks, backend } = startLocks();
    await using _blocker = await locks.acquire('c');
    const failing: Lock = {
      ...locks.mutex('b'),
      acquire: async (options) => {
        const lease = await locks.mutex('b').acquire(options);
        const release = async () => {
          await lease.release();
          throw new TypeError('the release failed');
        };
        return new Proxy(lease, {
          get: (target, name) => (name === 'release' ? release : (Reflect.get(target, name, target) as unknown)),
        });
      },
    };
    const members = ['a', 'b', 'c'].map((key) => ({ key, identity: key, lock: locks.mutex(key) }));
    const set = new MultiLock(
      members.map((member) => (member.key === 'b' ? { ...member, lock: failing } : member)),
      60_000,
      callScope(new HoldWatch(() => {}), {}),
    );
    await expect(set.acquire({ waitMs: 1 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'c' });
    expect(backend.busyKeys).toEqual(['c']);
  });
});

describe('all segments', () => {
  it('are queued for again at once when one of them is revoked meanwhile', async () => {
    const { lock, others, other, backend } = startSegments(3);
    const held = await others.acquire({ only: [2] });
    const all = lock.withAll((leases) => leases.every((lease) => lease.isHeld() && !lease.signal.aborted));
    await backend.standing(keyOf(2), 2);
    const next = others.acquire({ only: [0] });
    await backend.standing(keyOf(0), 2);
    await other.revoke(keyOf(0), { graceMs: Infinity });
    await (await next).release();
    await held.release();
    expect(await all).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('are acquired again when one of them is lost while the count is read', async () => {
    const { lock, backend } = startSegments(3);
    const tokens: bigint[] = [];
    const read = backend.records.read.bind(backend.records);
    let reads = 0;
    backend.records.read = async (name) => {
      const record = await read(name);
      if (reads++ === 0) {
        tokens.push(backend.leaseOn(keyOf(1))?.fencingToken ?? expect.unreachable());
        backend.leaseOn(keyOf(1))?.lose(lost('stock'));
      }
      return record;
    };
    const isWhole = await lock.withAll((leases) => {
      expect(leases[1]?.fencingToken).toBeGreaterThan(tokens[0] ?? expect.unreachable());
      return leases.every((lease) => lease.isHeld());
    });
    expect(isWhole).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });
});
