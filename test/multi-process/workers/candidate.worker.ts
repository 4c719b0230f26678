import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { ordersOf } from './orders.js';
import type { HoldOrders } from './orders.js';
import { connected } from './worker-service.js';

// Campaigns and leads. Answers every message with whether it believes that it still leads.
const { connectString, basePath, sessionTimeoutMs } = ordersOf<HoldOrders>();
const locks = await connected(zookeeper({ connectString, basePath, sessionTimeoutMs }).create());
const term = await new LeaderElectionService(locks).campaign('poller', { value: 'worker' });

const tell = (message: object) => process.send?.(message);
term.signal.addEventListener('abort', () => tell({ lost: String(term.signal.reason) }));
process.on('message', () => tell({ isHeld: term.isHeld() }));
tell({ token: String(term.fencingToken) });
