import type { History, Mode } from '../../robustness/model/history.js';
import type { Answer, Call } from './call.js';

/** A call of one process. */
export interface MadeCall<C extends Call = Call> {
  readonly id: string;
  readonly process: string;
  readonly call: C;
  /** How long the caller was ready to wait, where that is recorded. */
  readonly waitMs?: number | undefined;
  readonly calledAt: number;
  /** Nothing, when it never came back: its process was killed. */
  readonly returnedAt?: number | undefined;
  readonly answer?: Answer | undefined;
  /** Where its begin and its end are in the record of all processes: tells the order of what happened in one instant. */
  readonly from: number;
  /** `Infinity` when it never came back. */
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
  /** Nothing, when its process was killed. */
  readonly until?: number | undefined;
}

/** One who stood in the line of a key, as the servers had it. */
export interface Contender {
  readonly key: string;
  readonly mode: Mode;
  /** The session, or the process; contenders of one session may be granted together. */
  readonly session: string;
  /** Its place in the line: by this they are to be granted. */
  readonly order: number | bigint;
  /** When its znode was made. */
  readonly madeAt?: number | undefined;
  /** When somebody began to rely on its grant; nothing, when nobody did. */
  readonly grantedAt?: number | undefined;
  /** When each caller of its process was let in by that grant. */
  readonly grants?: readonly number[] | undefined;
  /** The holds that rest on it, by their ids. */
  readonly holds?: readonly string[] | undefined;
  /** When its znode was gone; nothing, when that is not known. */
  readonly goneAt?: number | undefined;
}

/** Everything that a simulated run is judged by. */
export interface SimulationHistory extends Omit<History, 'scenario' | 'wakeUps'> {
  readonly calls: readonly MadeCall[];
  readonly runs: readonly Run[];
  readonly contenders: readonly Contender[];
  /** Leases that were over when they were handed out. */
  readonly overAtOnce?: readonly { readonly process: string; readonly at: number; readonly key: string }[];
  /** What went wrong in the traffic itself. */
  readonly mishaps: readonly string[];
}

/** What the host knows, and no process can say. */
export type HostFacts = Pick<
  SimulationHistory,
  'seed' | 'faults' | 'ends' | 'leftovers' | 'finalsDue' | 'contenders'
> & {
  /** Warnings of Node.js and the like, beside those that processes recorded. */
  readonly warnings?: readonly string[];
};

/** Of some calls, those that can ask this. */
export type CallAsking<C extends Call, A> = C extends Call ? (A extends C['ask'] ? C : never) : never;

/** The calls to one kind of thing. */
export function callsOn<K extends Call['on']>(
  { calls }: Pick<SimulationHistory, 'calls'>,
  on: K,
): MadeCall<Extract<Call, { on: K }>>[] {
  return calls.filter((one): one is MadeCall<Extract<Call, { on: K }>> => one.call.on === on);
}

/** Of them, those that asked one thing. */
export function asking<C extends Call, A extends C['ask']>(
  calls: readonly MadeCall<C>[],
  ask: A,
): MadeCall<CallAsking<C, A>>[] {
  return calls.filter((one) => one.call.ask === ask) as unknown as MadeCall<CallAsking<C, A>>[];
}

/** Whether the call came back with what it asked for. */
export function isDone({ answer }: Pick<MadeCall, 'answer'>): boolean {
  return answer?.outcome === 'done';
}

/** Whether nobody can tell if the call had an effect: it never came back, or said so. */
export function isOpen({ answer }: Pick<MadeCall, 'answer'>): boolean {
  return answer === undefined || ['unknown', 'lost', 'aborted', 'failed'].includes(answer.outcome);
}
