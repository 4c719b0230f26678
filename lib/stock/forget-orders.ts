import type { RecordStore } from '../contract/record-store.js';
import type { StockNames } from './stock-names.js';

const AT_ONCE = 32;

/** Removes what is remembered of orders and deliveries that are older than that. @returns how many */
export async function forgetOrders(records: RecordStore, names: StockNames, olderThanMs: number): Promise<number> {
  const before = Date.now() - olderThanMs;
  const all: string[] = [];
  for (const above of [names.orders, names.restocks]) {
    all.push(...(await records.list(above)).map((last) => `${above}/${last}`));
  }
  let forgotten = 0;
  for (let place = 0; place < all.length; place += AT_ONCE) {
    const removals = all.slice(place, place + AT_ONCE).map((name) => forget(records, name, before));
    forgotten += (await Promise.all(removals)).filter(Boolean).length;
  }
  return forgotten;
}

async function forget(records: RecordStore, name: string, before: number): Promise<boolean> {
  const record = await records.read(name);
  if (!record || record.writtenAt.getTime() > before) return false;
  const write = await records.write([{ name, value: undefined, ifVersion: record.version }]);
  return write.isApplied;
}
