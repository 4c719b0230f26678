import type { CoordinationBackend } from '../contract/coordination-backend.js';
import { MemoryBarriers } from './memory-barriers.js';
import { MemoryCells } from './memory-cells.js';
import { MemoryQueues } from './memory-queues.js';

/** Queues, barriers and shared values inside one process. */
export class MemoryCoordination implements CoordinationBackend {
  readonly queues = new MemoryQueues();
  readonly barriers = new MemoryBarriers();
  readonly cells = new MemoryCells();
}
