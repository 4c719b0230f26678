import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { ordersOf } from './orders.js';
import type { HoldOrders } from './orders.js';
import { connected } from './worker-service.js';

// Acquires the key and holds it. Answers every message with whether it believes that it still holds it.
const { connectString, basePath, sessionTimeoutMs } = ordersOf<HoldOrders>();
const locks = await connected(zookeeper({ connectString, basePath, sessionTimeoutMs }).create());
const lease = await locks.acquire('key');

const tell = (message: object) => process.send?.(message);
lease.signal.addEventListener('abort', () => tell({ lost: String(lease.signal.reason) }));
process.on('message', () => tell({ isHeld: lease.isHeld() }));
tell({ token: String(lease.fencingToken) });
