import type { FaultPlan, WorldPlan } from '../plan/plan.js';
import type { MadeZnode } from '../model/contenders.js';
import type { Recorder } from '../cluster/recorder.js';
import type { Site } from '../instance/built-ins.js';

/** A contender that was deleted, and the sessions that were notified because they watched it. */
export interface WakeUp {
  readonly path: string;
  readonly sessions: ReadonlySet<bigint>;
  /** The time of the last notification, in true milliseconds. */
  readonly lastAt: number;
}

/** A model of a backend's servers, as the simulation controls and queries it. There is one for each backend. */
export interface SimulatedServers {
  readonly connectString: string;
  readonly ports: readonly number[];
  /** The ephemeral znodes of sessions. */
  readonly made: readonly MadeZnode[];
  readonly wakeUps: readonly WakeUp[];
  /**
   * Injects a fault, and returns a function that undoes it. Returns `undefined` if the fault does not concern the
   * servers.
   */
  break(fault: FaultPlan): (() => void) | undefined;
  /** Heals all servers, and cancels all planned faults. */
  heal(): void;
  /**
   * The time in true milliseconds after which the servers may, at the earliest, end the session; `undefined` if it is
   * over.
   * @param toldMs the session timeout that the client was granted last, if not when the session was created
   */
  earliestEndMs(session: bigint, toldMs?: number): number | undefined;
  /** Ends the session from outside, as a client that knows its password can. Returns `false` if there is none. */
  closeSession(session: bigint): boolean;
  /** Deletes one of the znodes that the session owns, and returns its path. */
  deleteNodeOf(session: bigint, choose: (paths: readonly string[]) => string): string | undefined;
  /** The owning session of each ephemeral znode. */
  owners(): ReadonlyMap<string, bigint>;
  /** Everything that clients have left behind. With `alsoSessions`, all clients have closed, and sessions count too. */
  leftovers(alsoSessions: boolean): string[];
}

/** Starts the servers in a process of their own. */
export type StartServers = (site: Site, plan: WorldPlan, recorder: Pick<Recorder, 'note'>) => Promise<SimulatedServers>;
