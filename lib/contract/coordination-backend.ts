import type { Barriers } from './barriers.js';
import type { Cells } from './cells.js';
import type { Queues } from './queues.js';

/** What a backend has beside locks. */
export interface CoordinationBackend {
  readonly queues: Queues;
  readonly barriers: Barriers;
  readonly cells: Cells;
}
