import { once } from 'node:events';
import { expect, inject, it, onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { LockService } from '../../lib/index.js';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

/** Two stores that commit independently, each with a fencing column. */
class Stores {
  readonly #rows = new Map([
    ['seats', { value: 10, token: 0n }],
    ['wallet', { value: 100, token: 0n }],
  ]);
  readonly written: string[] = [];

  get values(): readonly number[] {
    return [...this.#rows.values()].map(({ value }) => value);
  }

  valueOf(row: string): number {
    return this.#rows.get(row)?.value ?? expect.unreachable();
  }

  write(row: string, value: number, token: bigint): void {
    const known = this.#rows.get(row);
    if (!known || token < known.token) throw new Error(`${row}: a newer holder has written`);
    this.#rows.set(row, { value, token });
    this.written.push(`${row}=${value}`);
  }
}

/** Reserves a seat, pays for it, and then asks the bank. */
function book(locks: LockService, stores: Stores, bank: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  return locks.globalTransaction(async (transaction) => {
    for (const [row, by] of [
      ['seats', -1],
      ['wallet', -30],
    ] as const) {
      const { fencingToken } = await transaction.lock(`row/${row}`);
      const before = stores.valueOf(row);
      await transaction.branch(
        () => stores.write(row, before + by, fencingToken),
        () => stores.write(row, before, fencingToken),
      );
    }
    await bank(transaction.signal);
  });
}

/** Reads the rows as another process sees them that locks them. */
const look = (locks: LockService, stores: Stores) =>
  locks.globalTransaction(async (transaction) => {
    await transaction.lock(['row/wallet', 'row/seats']);
    return stores.values;
  });

it('a failed transaction is never half visible to another process', async () => {
  const basePath = freshBasePath();
  const [one, other] = await Promise.all([0, 1].map(() => openService({ connectString, basePath })));
  if (!one || !other) return expect.unreachable();
  const stores = new Stores();
  const client = await openClient(connectString);
  const bank = deferred<void>();
  const refused = expect(book(one, stores, () => bank.promise)).rejects.toThrow('refused');
  await untilContenders(client, `${basePath}/row/wallet`, 1);
  const seen = look(other, stores);
  await untilContenders(client, `${basePath}/row/seats`, 2);
  expect(stores.values).toEqual([9, 70]);
  bank.reject(new Error('refused'));
  await refused;
  expect(await seen).toEqual([10, 100]);
  expect(stores.written).toEqual(['seats=9', 'wallet=70', 'wallet=100', 'seats=10']);
});

it('a transaction is rolled back when its session expires', async () => {
  const basePath = freshBasePath();
  const proxy = await ZooKeeperFaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const unlucky = await openService({ connectString: proxy.connectString, basePath });
  const other = await openService({ connectString, basePath });
  const stores = new Stores();
  const booking = book(unlucky, stores, async (signal) => {
    await proxy.expireSessions();
    if (!signal.aborted) await once(signal, 'abort');
  });
  await expect(booking).rejects.toMatchObject({ code: 'LOCK_LOST' });
  expect(await look(other, stores)).toEqual([10, 100]);
  // The following session can run transactions.
  await book(unlucky, stores, async () => {});
  expect(await look(other, stores)).toEqual([9, 70]);
});
