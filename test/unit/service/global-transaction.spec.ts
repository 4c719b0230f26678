import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockTimeoutError } from '../../../lib/contract/errors.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import type { GlobalTransaction, LockService } from '../../../lib/index.js';
import { startLocks } from './locks.js';

const lost = (key: string) => new LockLostError(key, 'the test said so');

/** A store that commits each write by itself, and refuses a token that is older than the row's. */
class Store {
  readonly #rows = new Map<string, { readonly value: number; readonly token: bigint }>();

  constructor(rows: Readonly<Record<string, number>>) {
    for (const [row, value] of Object.entries(rows)) this.#rows.set(row, { value, token: 0n });
  }

  read(row: string): number {
    return this.#rows.get(row)?.value ?? expect.unreachable(row);
  }

  write(row: string, value: number, token: bigint): void {
    const known = this.#rows.get(row);
    if (known && token < known.token) throw new Error(`${row}: a newer holder has been here`);
    this.#rows.set(row, { value, token });
  }
}

/** Takes from one row and adds to another one, which is in another store. */
class Transfers {
  readonly from = new Store({ a: 100 });
  readonly to = new Store({ b: 0 });

  constructor(readonly locks: LockService) {}

  /** Reads both rows in one transaction, at the same instant. */
  seen(): Promise<readonly number[]> {
    return this.locks.globalTransaction(async (transaction) => {
      await transaction.lock(['a', 'b']);
      return [this.from.read('a'), this.to.read('b')];
    });
  }

  move(amount: number, then: (transaction: GlobalTransaction) => unknown = () => {}): Promise<void> {
    return this.locks.globalTransaction(async (transaction) => {
      await this.#change(transaction, this.from, 'a', -amount);
      await this.#change(transaction, this.to, 'b', amount);
      await then(transaction);
    });
  }

  async #change(transaction: GlobalTransaction, store: Store, row: string, by: number): Promise<void> {
    const { fencingToken } = await transaction.lock(row);
    const before = store.read(row);
    await transaction.branch(
      () => store.write(row, before + by, fencingToken),
      () => store.write(row, before, fencingToken),
    );
  }
}

describe('a global transaction over two stores', () => {
  it('locks its rows from the first access to its end: another transaction sees no half state', async () => {
    const { locks, backend } = startLocks();
    const transfers = new Transfers(locks);
    const bank = deferred<void>();
    const moving = transfers.move(30, () => bank.promise);
    await backend.standing('b', 1);
    expect([transfers.from.read('a')]).toEqual([70]);
    const seen = transfers.seen();
    await backend.standing('a', 2);
    bank.resolve();
    await moving;
    expect(await seen).toEqual([70, 30]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('rolls back both stores in reverse order when its last step fails, before it releases the rows', async () => {
    const { locks, backend } = startLocks();
    const stores = { a: new Store({ a: 100 }), b: new Store({ b: 0 }) };
    const undoingA = deferred<void>();
    const undone: string[] = [];
    const failure = new Error('refused by the bank');
    const failing = locks.globalTransaction(async (transaction) => {
      const [a, b] = await transaction.lock(['a', 'b']);
      const branches = [
        [stores.a, 'a', a.fencingToken, 70],
        [stores.b, 'b', b.fencingToken, 30],
      ] as const;
      for (const [store, row, token, value] of branches) {
        const before = store.read(row);
        await transaction.branch(
          () => store.write(row, value, token),
          async () => {
            if (row === 'a') await undoingA.promise;
            expect(backend.contenders('a').length + backend.contenders('b').length).toBe(3);
            store.write(row, before, token);
            undone.push(row);
          },
        );
      }
      throw failure;
    });
    const refused = expect(failing).rejects.toBe(failure);
    await backend.standing('b', 1);
    const seen = locks.globalTransaction(async (transaction) => {
      await transaction.lock(['a', 'b']);
      return [stores.a.read('a'), stores.b.read('b')];
    });
    await backend.standing('a', 2);
    undoingA.resolve();
    await refused;
    expect(await seen).toEqual([100, 0]);
    expect(undone).toEqual(['b', 'a']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('waits for branches that are under way before it rolls back', async () => {
    const { locks } = startLocks();
    const [slow, hasBegun] = [deferred<void>(), deferred<void>()];
    const rows: string[] = [];
    const failing = locks.globalTransaction((transaction) =>
      Promise.all([
        transaction.branch(
          async () => {
            hasBegun.resolve();
            await slow.promise;
            rows.push('slow');
          },
          () => rows.push('slow undone'),
        ),
        transaction.branch(
          () => Promise.reject(new Error('fast')),
          () => rows.push('fast undone'),
        ),
      ]),
    );
    const refused = expect(failing).rejects.toThrow('fast');
    await hasBegun.promise;
    // Runs after everything that the failure of the other branch causes at once.
    setImmediate(() => slow.resolve());
    await refused;
    expect(rows).toEqual(['slow', 'slow undone']);
  });

  it('fails when a branch that its work did not await fails', async () => {
    const { locks } = startLocks();
    const first = { undone: false };
    const failing = locks.globalTransaction(async (transaction) => {
      await transaction.branch(
        () => {},
        () => (first.undone = true),
      );
      const late = transaction.branch(
        () => new Promise((_, reject) => setImmediate(() => reject(new Error('late')))),
        () => expect.unreachable(),
      );
      late.catch(() => {});
      return 'done';
    });
    await expect(failing).rejects.toThrow('late');
    expect(first.undone).toBe(true);
  });

  it('rolls back the other branches when one roll-back fails, logs that, and throws the original error', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    onTestFinished(() => error.mockRestore());
    const { locks, backend } = startLocks();
    const undone: unknown[] = [];
    const failing = locks.globalTransaction(
      async (transaction) => {
        await transaction.branch(
          () => 'receipt 1',
          (receipt) => undone.push(receipt),
        );
        await transaction.lock('row');
        await transaction.branch(
          () => 'receipt 2',
          () => Promise.reject(new Error('store is down')),
        );
        throw new Error('of the work');
      },
      { label: 'trip 7' },
    );
    await expect(failing).rejects.toThrow('of the work');
    expect(undone).toEqual(['receipt 1']);
    expect(error.mock.calls.map(([message]) => message)).toEqual([
      'global transaction "trip 7": a branch could not be rolled back, and stays committed',
    ]);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a global transaction with a lost or revoked lease', () => {
  it('aborts its signal, begins no branch and cannot commit; the stores refuse stale tokens', async () => {
    const { locks, backend } = startLocks();
    const transfers = new Transfers(locks);
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    onTestFinished(() => error.mockRestore());
    const reason = lost('a');
    const [isLost, isTaken] = [deferred<void>(), deferred<void>()];
    const failing = transfers.move(30, async (transaction) => {
      backend.leaseOn('a')?.lose(reason);
      expect(transaction.signal.reason).toBe(reason);
      expect(() => transaction.assertHeld()).toThrow(reason);
      isLost.resolve();
      await isTaken.promise;
      const begun = vi.fn<() => void>();
      await expect(transaction.branch(begun, begun)).rejects.toBe(reason);
      await expect(transaction.lock('c')).rejects.toBe(reason);
      expect(begun).not.toHaveBeenCalled();
    });
    const refused = expect(failing).rejects.toBe(reason);
    await isLost.promise;
    // Another holder writes to the row that is still to be rolled back.
    await locks.using('a', ({ fencingToken }) => transfers.from.write('a', 1, fencingToken));
    isTaken.resolve();
    await refused;
    expect([transfers.from.read('a'), transfers.to.read('b')]).toEqual([1, 0]);
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^lost 1 lease: "a"/)],
      [expect.stringContaining('stays committed'), new Error('a: a newer holder has been here')],
    ]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('ends the wait for another row', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('b');
    const failing = locks.globalTransaction(async (transaction) => {
      await transaction.lock('a');
      await transaction.lock('b');
    });
    const refused = expect(failing).rejects.toMatchObject({ name: 'LockLostError', key: 'a' });
    await backend.standing('b', 2);
    backend.leaseOn('a')?.lose(lost('a'));
    await refused;
    await backend.standing('b', 1);
  });

  it('ends the wait for another row on revocation, and may still commit', async () => {
    const { locks, backend } = startLocks();
    const result = locks.globalTransaction(async (transaction) => {
      await transaction.lock('a');
      const revoking = locks.revoke('a');
      await expect(revoking).rejects.toMatchObject({ name: 'LockReentrancyError' });
      backend.leaseOn('a')?.revoke();
      expect(transaction.signal.reason).toMatchObject({ name: 'LockRevokedError' });
      await expect(transaction.lock('b')).rejects.toMatchObject({ name: 'LockRevokedError' });
      return transaction.branch(
        () => 'committed',
        () => expect.unreachable(),
      );
    });
    expect(await result).toBe('committed');
  });
});

describe('the rows of a global transaction', () => {
  it('are locked once each, with one token each, however often they are named', async () => {
    const { locks, backend } = startLocks();
    await locks.globalTransaction(async (transaction) => {
      const [first, again, other] = await transaction.lock(['a', 'a', 'b']);
      expect(await transaction.lock('a')).toBe(first);
      expect(again).toBe(first);
      const both = await Promise.all([transaction.lock('c'), transaction.lock('c')]);
      expect(both[0]).toBe(both[1]);
      expect(transaction.leases.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
      expect(first.fencingToken).toBe(backend.leaseOn('a')?.fencingToken);
      expect(other.fencingToken).toBe(backend.leaseOn('b')?.fencingToken);
    });
    expect(backend.requests.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('are not released early, neither by their lease nor by the current lease', async () => {
    const { locks, backend } = startLocks();
    await locks.globalTransaction(async (transaction) => {
      const lease = await transaction.lock('a');
      await lease.release();
      await currentLease()?.release();
      expect(lease.isHeld()).toBe(true);
      await backend.standing('a', 1);
    });
    expect(backend.busyKeys).toEqual([]);
  });

  it('can be entered by nested calls at any time; the current lease covers all of them', async () => {
    const { locks, backend } = startLocks();
    await locks.using('outer', () =>
      locks.globalTransaction(async (transaction) => {
        expect(currentLease()?.key).toBe('outer');
        await locks.using('nested', async () => {
          await transaction.lock('a');
          await locks.using('a', ({ key }) => expect(key).toBe('a'));
        });
        await transaction.lock('b');
        expect(currentLease()?.key).toBe('a, b');
        await locks.multi(['b', 'a', 'd']).using(() => {});
        await transaction.branch(
          () => locks.using('b', () => {}),
          () => {},
        );
      }),
    );
    expect(currentLease()).toBeUndefined();
    expect(backend.requests.map(({ key }) => key)).toEqual(['outer', 'nested', 'a', 'b', 'd']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('stay locked for a nested call that outlives the transaction', async () => {
    const { locks, backend } = startLocks();
    const outlives = deferred<void>();
    let nested: Promise<void> | undefined;
    await locks.globalTransaction(async (transaction) => {
      await transaction.lock('a');
      nested = locks.using('a', () => outlives.promise);
    });
    await backend.standing('a', 1);
    outlives.resolve();
    await nested;
    expect(backend.busyKeys).toEqual([]);
  });

  it('are refused when the calling method holds them: a second lease would wait for the first', async () => {
    const { locks } = startLocks();
    const call = locks.using('a', () => locks.globalTransaction((transaction) => transaction.lock('a')));
    await expect(call).rejects.toMatchObject({ name: 'LockReentrancyError', key: 'a' });
  });
});

describe('the wait for rows', () => {
  it('ends by the deadlines of two transactions that deadlock, and no row stays locked', async () => {
    const { locks, backend } = startLocks();
    const bothHold = deferred<void>();
    const crossing = (first: string, second: string) =>
      locks.globalTransaction(
        async (transaction) => {
          await transaction.lock(first);
          if (backend.busyKeys.length === 2) bothHold.resolve();
          await bothHold.promise;
          await transaction.lock(second);
        },
        { waitMs: 50 },
      );
    const ends = await Promise.allSettled([crossing('a', 'b'), crossing('b', 'a')]);
    const failures = ends.filter((end) => end.status === 'rejected').map(({ reason }): unknown => reason);
    // One transaction may get its row after the other has given up.
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toBeInstanceOf(LockTimeoutError);
    expect(backend.busyKeys).toEqual([]);
  });

  it('does not deadlock when two transactions name all rows at once', async () => {
    const { locks, backend } = startLocks();
    const naming = (...rows: string[]) =>
      locks.globalTransaction(async (transaction) => void (await transaction.lock(rows)));
    await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? naming('a', 'b') : naming('b', 'a'))));
    expect(backend.busyKeys).toEqual([]);
  });

  it('has one deadline; a partly acquired set of rows is released, earlier rows stay locked', async () => {
    const { locks, backend } = startLocks();
    await using _held = await locks.acquire('c');
    await locks.globalTransaction(
      async (transaction) => {
        await transaction.lock('a');
        await expect(transaction.lock(['b', 'c'])).rejects.toMatchObject({ name: 'LockTimeoutError', key: 'c' });
        expect(backend.contenders('b')).toEqual([]);
        // The time is used up, so the next wait is 0.
        await expect(transaction.lock('c')).rejects.toMatchObject({ waitMs: 0 });
        expect((await transaction.lock('free')).isHeld()).toBe(true);
        expect(transaction.leases.map(({ key }) => key)).toEqual(['a', 'free']);
      },
      { waitMs: 5 },
    );
  });

  it('has no time left after a timeout, even if a timer fired early', async () => {
    const { locks, backend } = startLocks();
    const early = vi.spyOn(backend, 'acquire').mockRejectedValueOnce(new LockTimeoutError('c', 60_000));
    await locks.globalTransaction(
      async (transaction) => {
        await expect(transaction.lock('c')).rejects.toMatchObject({ name: 'LockTimeoutError' });
        early.mockRestore();
        await using _held = await locks.acquire('d');
        await expect(transaction.lock('d')).rejects.toMatchObject({ name: 'LockTimeoutError', waitMs: 0 });
      },
      { waitMs: 60_000 },
    );
  });

  it('ends with the reason of the caller`s signal, which does not end the locked rows', async () => {
    const { locks } = startLocks();
    await using _held = await locks.acquire('b');
    const giveUp = new AbortController();
    const reason = new Error('the client is gone');
    await locks.globalTransaction(
      async (transaction) => {
        const lease = await transaction.lock('a');
        const waiting = expect(transaction.lock('b')).rejects.toBe(reason);
        giveUp.abort(reason);
        await waiting;
        expect(lease.isHeld()).toBe(true);
        expect(transaction.signal.aborted).toBe(false);
      },
      { signal: giveUp.signal },
    );
  });
});

describe('a global transaction refuses', () => {
  it.each([
    [{ waitMs: -1 }, 'waitMs must be a number of milliseconds'],
    [{ wait: 1 }, 'global transaction options: unknown field "wait" (known: waitMs, signal, label)'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ label: 7 }, 'label must be a string'],
  ])('options %o', async (options, message) => {
    const { locks } = startLocks();
    const work = vi.fn<() => void>();
    await expect(locks.globalTransaction(work, options as never)).rejects.toThrow(message);
    expect(work).not.toHaveBeenCalled();
  });

  it('invalid keys, and branches without two functions', async () => {
    const { locks, backend } = startLocks();
    await locks.globalTransaction(async (transaction) => {
      await expect(transaction.lock([])).rejects.toThrow('lock: keys must be an array of at least one key');
      await expect(transaction.lock(['a', 'b/../c'])).rejects.toMatchObject({ name: 'LockConfigurationError' });
      await expect(transaction.lock(undefined as never)).rejects.toMatchObject({ name: 'LockConfigurationError' });
      const call = transaction.branch(() => {}, undefined as never);
      await expect(call).rejects.toThrow('branch: rollBack must be a function');
    });
    expect(backend.requests).toEqual([]);
  });

  it('missing work', async () => {
    const { locks } = startLocks();
    await expect(locks.globalTransaction(undefined as never)).rejects.toThrow(
      'the work to run under the lock must be a function, as in globalTransaction(async (transaction) => …), got undefined',
    );
  });

  it('a call after the transaction is over', async () => {
    const { locks } = startLocks();
    let kept: GlobalTransaction | undefined;
    await locks.globalTransaction((transaction) => void (kept = transaction));
    const message = 'lock() was called when the global transaction was over: await in its work all that it starts';
    await expect(kept?.lock('a')).rejects.toThrow(message);
    await expect(kept?.branch(vi.fn<() => void>(), vi.fn<() => void>())).rejects.toThrow('branch() was called');
  });
});

describe('a transaction that has failed', () => {
  it.each([3_600_000, Infinity])('waits for no further row (waitMs: %s)', async (waitMs) => {
    const { locks } = startLocks();
    const other = await locks.acquire('b');
    const undone = vi.fn();
    const failing = locks.globalTransaction(
      async (transaction) => {
        await transaction.lock('a');
        await transaction.branch(() => {}, undone);
        await Promise.all([transaction.lock('b'), Promise.reject(new Error('a step'))]);
      },
      { waitMs },
    );
    await expect(failing).rejects.toThrow('a step');
    expect(undone).toHaveBeenCalledOnce();
    await using _row = await locks.acquire('a', { waitMs: 0 });
    await other.release();
  });
});

it('a signal that was read before the last row was locked aborts with the others', async () => {
  const { locks, backend } = startLocks();
  const running = locks.globalTransaction(async (transaction) => {
    await transaction.lock(['a', 'b']);
    const signal = currentLease()?.signal;
    await transaction.lock('c');
    backend.leaseOn('a')?.lose(lost('a'));
    expect([signal?.aborted, transaction.signal.aborted]).toEqual([true, true]);
  });
  await expect(running).rejects.toBeInstanceOf(LockLostError);
});
