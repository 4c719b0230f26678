import { checkLiveness } from '../../robustness/validate/liveness.js';
import { checkOutcomes } from '../../robustness/validate/outcomes.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Attempt } from '../../robustness/model/history.js';
import type { MadeCall, SimulationHistory } from '../model/history.js';
import { Trouble } from './trouble.js';

/** The time limits of calls and acquisitions. */
export interface Limits {
  /**
   * The time beyond the own deadline of an acquisition or a call, to find out that no server is there. In simulated
   * milliseconds.
   */
  readonly graceMs: number;
  /** The limit of a call whose deadline is not recorded: the longest that the traffic names. */
  readonly callMs: number;
}

/** Calls that last for as long as the caller likes, or as the work does. */
const OF_ANY_LENGTH: readonly string[] = ['observe', 'poll', 'fire', 'resign'];

/**
 * Nobody was stuck: every acquisition and every call ended in time, and in the end every process acquired every key. A
 * member that gives up at a double barrier asks the servers whether the others have counted it, however long they are
 * away.
 */
export function checkAllLiveness(history: SimulationHistory, { graceMs, callMs }: Limits): Finding[] {
  const trouble = new Trouble(history);
  const isUnlimited = ({ call, calledAt, returnedAt = calledAt }: MadeCall) =>
    OF_ANY_LENGTH.includes(call.ask) || (call.ask === 'enter' && !trouble.isCalm(calledAt, returnedAt, graceMs));
  const calls = history.calls.map((call) => attemptOf(call, isUnlimited(call) ? Infinity : callMs));
  return checkLiveness({ ...history, attempts: [...history.attempts, ...calls] }, graceMs);
}

function attemptOf({ id, process, call, calledAt, returnedAt }: MadeCall, waitMs: number): Attempt {
  return { id, process, keys: [call.key], mode: 'exclusive', askedAt: calledAt, waitMs, answeredAt: returnedAt };
}

/** Every call ended in one of the ways that the contract names, and the traffic itself made no mistake. */
export function checkAnswers({
  attempts,
  calls,
  mishaps,
  overAtOnce = [],
}: Pick<SimulationHistory, 'attempts' | 'calls' | 'mishaps' | 'overAtOnce'>): Finding[] {
  // A set that loses a key before it is complete begins anew. A set under another lease (see the program `sets`) ends
  // with that lease.
  const lost = attempts.filter(
    ({ keys, outcome, id }) => keys.length > 1 && outcome === 'lost' && !id.endsWith('/set'),
  );
  const wrong = calls.filter(
    ({ answer, call }) => answer?.outcome === 'failed' || (answer?.outcome === 'refused' && call.on !== 'stock'),
  );
  return [
    ...checkOutcomes({ attempts }),
    ...overAtOnce.map((one) => ({
      check: one.key.startsWith('term ') ? 'terms' : 'outcomes',
      message: `${one.process} was handed "${one.key}" at ${one.at}, and its time was over`,
      records: [one],
    })),
    ...lost.map((one) => ({
      check: 'outcomes',
      message: `${one.process} asked for ${one.keys.join(', ')} and was told that it lost what it never had`,
      records: [one],
    })),
    ...wrong.map((one) => ({
      check: 'outcomes',
      message: `${one.process} asked for "${one.call.ask}" of the ${one.call.on} "${one.call.key}" and got: ${one.answer?.error}`,
      records: [one],
    })),
    ...mishaps.map((text) => ({ check: 'traffic', message: text, records: [] })),
  ];
}
