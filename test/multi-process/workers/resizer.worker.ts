import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { ordersOf } from './orders.js';
import type { HoldOrders } from './orders.js';
import { connected } from './worker-service.js';

// Begins to change the number of segments, sends a message, and never completes the change.
const { connectString, basePath, sessionTimeoutMs } = ordersOf<HoldOrders>();
const locks = await connected(zookeeper({ connectString, basePath, sessionTimeoutMs }).create());
const change = locks.segmented('coupons', { segments: 4 }).resize(8, async ({ from, to }) => {
  process.send?.({ from, to });
  await new Promise((resolve) => process.on('message', resolve));
});
change.then(
  () => process.send?.({ changed: true }),
  (error: unknown) => process.send?.({ refused: String(error) }),
);
