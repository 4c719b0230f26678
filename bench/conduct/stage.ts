import type { WorkerProcess } from '../crew/worker-process.js';
import type { Packets, Server } from '../servers/server.js';
import type { Figures } from './figures.js';

/** The environment in which a contender is measured: its processes, with open connections, and its server. */
export interface Stage {
  readonly workers: readonly WorkerProcess[];
  readonly server: Server;
  /** The directory of the workers' files. */
  readonly dir: string;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whether the waiters of one process share one contender in the server's wait queue. */
  readonly isLocalLine: boolean;
  /** Resolves with the messages of the open, idle sessions per nanosecond. */
  idlePackets(): Promise<Packets>;
}

export interface Measured {
  readonly figures: Figures;
  /** The number of checked acquisitions, warm-up included. */
  readonly acquisitions: number;
  /** The number of acquisitions that began while another hold of the same key was not over. */
  readonly overlaps: number;
}
