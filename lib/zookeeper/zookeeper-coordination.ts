import type { CoordinationBackend } from '../contract/coordination-backend.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import { ZooKeeperBarriers } from './zookeeper-barriers.js';
import { ZooKeeperCells } from './zookeeper-cells.js';
import { ZooKeeperQueues } from './zookeeper-queues.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** Queues, barriers and shared values in ZooKeeper, over the same session as the locks. */
export class ZooKeeperCoordination implements CoordinationBackend {
  readonly queues: ZooKeeperQueues;
  readonly barriers: ZooKeeperBarriers;
  readonly cells: ZooKeeperCells;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.queues = new ZooKeeperQueues(sessions, options);
    this.barriers = new ZooKeeperBarriers(sessions, options);
    this.cells = new ZooKeeperCells(sessions, options);
  }
}
