import type { History, Mode } from '../../robustness/model/history.js';
import type { Answer, Call } from './call.js';

/** A call of one process. */
export interface MadeCall<C extends Call = Call> {
  readonly id: string;
  readonly process: string;
  readonly call: C;
  /** The time that the caller was ready to wait, if it is recorded. */
  readonly waitMs?: number | undefined;
  readonly calledAt: number;
  /** `undefined` if the call never returned, because its process was killed. */
  readonly returnedAt?: number | undefined;
  readonly answer?: Answer | undefined;
  /**
   * The index of its begin in the record of all processes, and below that of its end. They order events of one instant.
   */
  readonly from: number;
  /** `Infinity` if the call never returned. */
  readonly until: number;
}

/** One run of a job. */
export interface Run {
  readonly id: string;
  readonly process: string;
  readonly job: string;
  readonly tick: number;
  readonly attempt: number;
  readonly token: bigint;
  readonly from: number;
  /** `undefined` if its process was killed. */
  readonly until?: number | undefined;
}

/** One znode in the wait queue of a key, as the servers had it. */
export interface Contender {
  readonly key: string;
  readonly mode: Mode;
  /** The session, or the process. Contenders of one session may be granted together. */
  readonly session: string;
  /** Its position in the wait queue, by which contenders are to be granted. */
  readonly order: number | bigint;
  /** The time at which its znode was created. */
  readonly madeAt?: number | undefined;
  /** The time at which the first hold of its grant began; `undefined` if there was none. */
  readonly grantedAt?: number | undefined;
  /** The times at which the callers of its process were granted the lock with it. */
  readonly grants?: readonly number[] | undefined;
  /** The ids of the holds that depend on it. */
  readonly holds?: readonly string[] | undefined;
  /** The time at which its znode was deleted; `undefined` if that is unknown. */
  readonly goneAt?: number | undefined;
}

/** Everything by which a simulated run is judged. */
export interface SimulationHistory extends Omit<History, 'scenario' | 'wakeUps'> {
  readonly calls: readonly MadeCall[];
  readonly runs: readonly Run[];
  readonly contenders: readonly Contender[];
  /** Leases that were over when they were handed out. */
  readonly overAtOnce?: readonly { readonly process: string; readonly at: number; readonly key: string }[];
  /** Errors of the traffic itself. */
  readonly mishaps: readonly string[];
}

/** The facts that the host knows, and no process can record. */
export type HostFacts = Pick<
  SimulationHistory,
  'seed' | 'faults' | 'ends' | 'leftovers' | 'finalsDue' | 'contenders'
> & {
  /** Warnings of Node.js and the like, in addition to those that processes recorded. */
  readonly warnings?: readonly string[];
};

/** The calls among some that have this `ask`. */
export type CallAsking<C extends Call, A> = C extends Call ? (A extends C['ask'] ? C : never) : never;

/** The calls on one kind of object. */
export function callsOn<K extends Call['on']>(
  { calls }: Pick<SimulationHistory, 'calls'>,
  on: K,
): MadeCall<Extract<Call, { on: K }>>[] {
  return calls.filter((one): one is MadeCall<Extract<Call, { on: K }>> => one.call.on === on);
}

/** The calls that asked for one thing. */
export function asking<C extends Call, A extends C['ask']>(
  calls: readonly MadeCall<C>[],
  ask: A,
): MadeCall<CallAsking<C, A>>[] {
  return calls.filter((one) => one.call.ask === ask) as unknown as MadeCall<CallAsking<C, A>>[];
}

/** Whether the call returned with what it asked for. */
export function isDone({ answer }: Pick<MadeCall, 'answer'>): boolean {
  return answer?.outcome === 'done';
}

/** Whether the effect of the call is unknown: it never returned, or reported so. */
export function isOpen({ answer }: Pick<MadeCall, 'answer'>): boolean {
  return answer === undefined || ['unknown', 'lost', 'aborted', 'failed'].includes(answer.outcome);
}
