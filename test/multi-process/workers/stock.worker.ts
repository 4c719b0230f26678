import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { RecordStore } from '../../../lib/contract/record-store.js';
import { hash } from '../../../lib/composite/segment-route.js';
import type { SegmentStore } from '../../../lib/stock/stock-keeper.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { everybodyBackend } from './everybody-backend.js';
import { FileLedger } from './file-ledger.js';
import { ordersOf } from './orders.js';
import type { StockOrders, Told } from './stock-orders.js';
import { connected } from './worker-service.js';

const MOST_UNITS = 10;

const orders = ordersOf<StockOrders>();
const { connectString, basePath, sessionTimeoutMs, segments, planted } = orders;
const backend = zookeeper({ connectString, basePath, sessionTimeoutMs }).create();
const locks = await connected(withDefect(backend));
const stock = locks.stock('sku', { segments, ...(orders.ledger !== undefined && { store: ledger(orders.ledger) }) });

// All processes are to buy at the same time, however long each took to start.
process.send?.({ isReady: true });
await once(process, 'message');
await Promise.all(orders.buyers.map(buyAll));
process.disconnect();
await locks.onApplicationShutdown();

/** Orders until no unit is left. After a crash, the buyer's next process repeats the same orders with the same ids. */
async function buyAll(buyer: string): Promise<void> {
  let isScarce = false;
  for (let count = 0; ; count++) {
    const quantity = isScarce ? 1 : 1 + (hash(`${buyer}/${count}`) % MOST_UNITS);
    const orderId = `${buyer}-${count}-${quantity}`;
    const isSold = await buy(orderId, quantity);
    appendFileSync(orders.journal, `${JSON.stringify({ orderId, quantity, isSold } satisfies Told)}\n`);
    process.send?.({ orderId });
    if (!isSold && quantity === 1) return;
    if (!isSold) isScarce = true;
  }
}

/** Repeats an order until its outcome is known. */
async function buy(orderId: string, quantity: number): Promise<boolean> {
  for (;;) {
    try {
      return (await stock.deduct(quantity, { orderId })) !== null;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'LOCK_UNAVAILABLE' && code !== 'LOCK_LOST' && code !== 'LOCK_TIMEOUT') throw error;
    }
  }
}

function ledger(directory: string): SegmentStore {
  const files = new FileLedger(directory);
  if (planted !== 'split') return files;
  const parts = new Map<string, number>();
  return {
    putBack: (request) => files.putBack(request),
    take: async (request) => {
      const units = await files.take(request);
      const count = (parts.get(request.orderId) ?? 0) + (units > 0 ? 1 : 0);
      parts.set(request.orderId, count);
      if (count === 2) process.kill(process.pid, 'SIGKILL');
      return units;
    },
  };
}

function withDefect(real: LockBackend): LockBackend {
  if (planted === 'unlocked')
    return { ...everybodyBackend(), connect: () => real.connect(), close: () => real.close(), records: real.records };
  if (planted !== 'unconditional') return real;
  const records: RecordStore = {
    read: (name) => real.records.read(name),
    readAll: (names) => real.records.readAll(names),
    list: (name) => real.records.list(name),
    write: (changes) => real.records.write(changes.map(({ name, value }) => ({ name, value }))),
  };
  return { ...everybodyBackend(), connect: () => real.connect(), close: () => real.close(), records };
}
