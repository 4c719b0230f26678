import type { Random } from '../random.js';
import type { Seat } from '../scenarios/seat.js';
import type { Servers } from '../servers/servers.js';

/** Everything that can be broken. */
export interface World {
  readonly servers: Servers;
  readonly seats: readonly Seat[];
}

/** A fault that is active now. */
export interface Damage {
  /** The target of the fault: a seat, a process, a server or `all`. */
  readonly target: string;
  mend(): Promise<void> | void;
}

/** Causes one fault for about `durationMs`. Resolves to `undefined` when there is no target for it. */
export type Failpoint = (world: World, random: Random, durationMs: number) => Promise<Damage | undefined>;
