import type { Random } from '../random.js';
import type { Seat } from '../scenarios/seat.js';
import type { Servers } from '../scenarios/servers.js';

/** All that can be broken. */
export interface World {
  readonly servers: Servers;
  readonly seats: readonly Seat[];
}

/** Something that is broken now. */
export interface Damage {
  /** Whom it hits: a seat, a process, a server or `all`. */
  readonly target: string;
  mend(): Promise<void> | void;
}

/** Breaks one thing for about that long; `undefined` when there is nobody to do it to. */
export type Failpoint = (world: World, random: Random, durationMs: number) => Promise<Damage | undefined>;
