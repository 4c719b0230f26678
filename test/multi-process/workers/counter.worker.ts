import { readFile, writeFile } from 'node:fs/promises';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { everybodyBackend } from './everybody-backend.js';
import { ordersOf } from './orders.js';
import type { CountOrders } from './orders.js';
import { connected } from './worker-service.js';

// Increments a number in a file without any other synchronization: read, add, write.
const { connectString, basePath, file, increments, isLocked } = ordersOf<CountOrders>();
const locks = await connected(isLocked ? zookeeper({ connectString, basePath }).create() : everybodyBackend());

const increment = async () => {
  const seen = Number(await readFile(file, 'utf8'));
  await writeFile(file, String(seen + 1));
};
await Promise.all(Array.from({ length: increments }, () => locks.using('counter', increment)));
await locks.onApplicationShutdown();
