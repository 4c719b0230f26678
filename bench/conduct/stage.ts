import type { WorkerProcess } from '../crew/worker-process.js';
import type { Packets, Server } from '../servers/server.js';
import type { Figures } from './figures.js';

/** What a contender is measured on: its processes, with their connections open, and its server. */
export interface Stage {
  readonly workers: readonly WorkerProcess[];
  readonly server: Server;
  /** Where the workers' files go. */
  readonly dir: string;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whether waiters of one process share a place in the server's line. */
  readonly isLocalLine: boolean;
  /** Messages of the open sessions while they do nothing, in a nanosecond. */
  idlePackets(): Promise<Packets>;
}

export interface Measured {
  readonly figures: Figures;
  /** How many were checked, warm-up included. */
  readonly acquisitions: number;
  /** How many of them began while another one of the same key was not over. */
  readonly overlaps: number;
}
