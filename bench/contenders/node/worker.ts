/**
 * The worker of all contenders that run on Node. It executes the orders on its input, one per line, until the input
 * ends.
 */
import { createInterface } from 'node:readline';
import type { OnceReport, Order } from '../../crew/orders.js';
import { monotonicNs } from '../../support/clock.js';
import type { OpenContender, OpenFunction } from './contender.js';
import { runLoop } from './loop.js';
import { memory, WaitingLine } from './waiting-line.js';

/** Loaded on demand, so that no contender's process has the others in memory. */
const MODULES: Readonly<Record<string, () => Promise<{ readonly open: OpenFunction }>>> = {
  floor: () => import('./floor.js'),
  'plain-recipe': () => import('./plain-recipe.js'),
  'floor-redis': () => import('./floor-redis.js'),
  'floor-redis-queue': () => import('./floor-redis-queue.js'),
  'floor-redis-head': async () => ({ open: (await import('./floor-redis-scripts.js')).openHead }),
  'floor-redis-lock': async () => ({ open: (await import('./floor-redis-scripts.js')).openLock }),
  'floor-etcd': () => import('./floor-etcd.js'),
  ours: () => import('./ours.js'),
  'ours-redis': () => import('./ours-redis.js'),
  'ours-etcd': () => import('./ours-etcd.js'),
  'redis-semaphore': () => import('./redis-semaphore.js'),
  redlock: () => import('./redlock.js'),
  etcd3: () => import('./etcd3.js'),
  'no-lock': () => import('./no-lock.js'),
};

let contender: OpenContender | undefined;
let line: WaitingLine | undefined;

for await (const text of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(text) as Order).catch((error: unknown) => ({
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await contender?.close();

async function carryOut(order: Order): Promise<object> {
  if (order.do === 'open') {
    const module = await MODULES[order.contender]!();
    contender = await module.open(order.address, order.options);
    return {};
  }
  if (!contender) throw new Error(`"${order.do}" before "open"`);
  switch (order.do) {
    case 'loop':
      return runLoop(contender, order);
    case 'queue':
      line = new WaitingLine(await contender.locker(order.key));
      return line.form(order);
    case 'memory':
      return memory();
    case 'drain':
      return line!.drain(order.file);
    case 'once':
      return once(contender, order.key);
    case 'close':
      await contender.close();
      contender = undefined;
      return {};
  }
}

async function once(opened: OpenContender, key: string): Promise<OnceReport> {
  const locker = await opened.locker(key);
  const asked = monotonicNs();
  const held = await locker.acquire(false);
  const from = monotonicNs();
  await locker.release(held);
  return { asked, from, to: from, released: monotonicNs() };
}
