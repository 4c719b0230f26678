import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SegmentChange } from '../../../lib/composite/segment-resize.js';
import { upTo } from '../../../lib/composite/segment-route.js';
import type { SegmentLease } from '../../../lib/contract/segment.options.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { everybodyBackend } from './everybody-backend.js';
import { ordersOf } from './orders.js';
import type { SellOrders } from './orders.js';
import { connected } from './worker-service.js';

// Sells coupons until there are none, without any other synchronization. A segment is a file with a number. Reports how
// many it sold.
const { connectString, basePath, directory, changes, isLocked } = ordersOf<SellOrders>();
const service = await connected(isLocked ? zookeeper({ connectString, basePath }).create() : everybodyBackend());
const coupons = service.segmented('coupons', { segments: 4 });
let sold = 0;

const fileOf = (segment: number) => join(directory, String(segment));
const leftIn = async (segment: number) => Number(await readFile(fileOf(segment), 'utf8').catch(() => 0));

/** Sells one coupon. Resolves to `false` when the segment is empty. */
async function sellOne({ segment }: SegmentLease): Promise<boolean> {
  const left = await leftIn(segment);
  if (left === 0) return false;
  await writeFile(fileOf(segment), String(left - 1));
  sold++;
  return true;
}

/** Counts the coupons in all segments, and spreads them over the new ones. Repeating it gives the same result. */
async function spread({ to }: SegmentChange): Promise<void> {
  const segments = (await readdir(directory)).map(Number);
  const counts = await Promise.all(segments.map(leftIn));
  const all = counts.reduce((sum, count) => sum + count, 0);
  for (const segment of upTo(Math.max(to, ...segments.map((segment) => segment + 1)))) {
    const share = segment < to ? Math.floor(all / to) + (segment < all % to ? 1 : 0) : 0;
    await writeFile(fileOf(segment), String(share));
  }
}

async function isSoldOut(): Promise<boolean> {
  return coupons.withAll(async (leases) => {
    const counts = await Promise.all(leases.map(({ segment }) => leftIn(segment)));
    return counts.every((count) => count === 0);
  });
}

async function sellAll(): Promise<void> {
  for (let dry = 0; dry < 20 || !(await isSoldOut()); dry++) {
    if (await coupons.using(sellOne)) dry = 0;
  }
}

async function changeAll(): Promise<void> {
  for (const segments of changes) await coupons.resize(segments, spread);
}

const mayBegin = once(process, 'message');
process.send?.({ ready: true });
await mayBegin;
await Promise.all([changeAll(), ...upTo(4).map(sellAll)]);
process.send?.({ sold });
await service.onApplicationShutdown();
process.disconnect();
