import type { FaultPlan, WorldPlan } from '../plan/plan.js';
import type { MadeZnode } from '../model/contenders.js';
import type { Recorder } from '../cluster/recorder.js';
import type { Site } from '../instance/built-ins.js';

/** A contender that was deleted, and the sessions that were told so because they watched it. */
export interface WakeUp {
  readonly path: string;
  readonly sessions: ReadonlySet<bigint>;
  /** When the last of them was told, in true milliseconds. */
  readonly lastAt: number;
}

/** A model of a backend's servers, as the simulation drives and asks it. One is made for each backend. */
export interface SimulatedServers {
  readonly connectString: string;
  readonly ports: readonly number[];
  /** What stood for sessions on the servers. */
  readonly made: readonly MadeZnode[];
  readonly wakeUps: readonly WakeUp[];
  /** Breaks something; answers how to undo it. Nothing, when the fault is none of the servers'. */
  break(fault: FaultPlan): (() => void) | undefined;
  /** The servers are well, and nothing is planned any more. */
  heal(): void;
  /**
   * In how many true milliseconds the servers may at the earliest give away what the session has; nothing: it is over.
   * @param toldMs the session timeout that the client was told last, if not when the session was made
   */
  earliestEndMs(session: bigint, toldMs?: number): number | undefined;
  /** Ends the session as somebody else can who knows its password. `false` when there is none. */
  closeSession(session: bigint): boolean;
  /** Deletes one of the znodes that the session owns, and answers which. */
  deleteNodeOf(session: bigint, choose: (paths: readonly string[]) => string): string | undefined;
  /** Which session owns which ephemeral. */
  owners(): ReadonlyMap<string, bigint>;
  /** What clients have left behind; with `alsoSessions`, when all of them have closed. */
  leftovers(alsoSessions: boolean): string[];
}

/** Starts the servers in a process of their own. */
export type StartServers = (site: Site, plan: WorldPlan, recorder: Pick<Recorder, 'note'>) => Promise<SimulatedServers>;
