import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Call } from '../model/call.js';
import { callsOn, isOpen } from '../model/history.js';
import type { MadeCall, SimulationHistory } from '../model/history.js';
import { INITIAL_VALUE } from '../model/initial.js';
import { linearize } from './linearizability.js';
import type { Operation, Specification } from './linearizability.js';
import { BARRIER, COUNTER, valueFrom } from './specifications.js';
import type { Answered } from './specifications.js';

/**
 * Every answer of a counter, a value or a barrier is right in some order. In that order each call takes effect once,
 * between its begin and its end. A call of unknown outcome may take effect at any time after its begin, or never.
 */
export function checkValues(history: Pick<SimulationHistory, 'calls'>): Finding[] {
  return [
    ...checkObjects(callsOn(history, 'counter'), COUNTER),
    ...checkObjects(callsOn(history, 'value'), valueFrom(INITIAL_VALUE)),
    ...checkObjects(callsOn(history, 'barrier'), BARRIER),
  ];
}

/** The number of objects with more configurations than the limit. */
export function undecidedValues(history: Pick<SimulationHistory, 'calls'>): number {
  return [
    ...verdictsOn(callsOn(history, 'counter'), COUNTER),
    ...verdictsOn(callsOn(history, 'value'), valueFrom(INITIAL_VALUE)),
    ...verdictsOn(callsOn(history, 'barrier'), BARRIER),
  ].filter(({ verdict }) => verdict.is === 'undecided').length;
}

function checkObjects<C extends Call, S>(
  calls: readonly MadeCall<C>[],
  specification: Specification<S, Answered<C>>,
): Finding[] {
  return verdictsOn(calls, specification).flatMap(({ key, of, verdict }) => {
    if (verdict.is !== 'impossible') return [];
    const { what, from, until } = verdict.at;
    const message = `${what.call.on} "${key}": no order explains that "${what.call.ask}" had ${JSON.stringify(what.answer)}`;
    return [
      { check: what.call.on === 'barrier' ? 'barriers' : 'values', message, records: [{ what, from, until }, ...of] },
    ];
  });
}

function verdictsOn<C extends Call, S>(calls: readonly MadeCall<C>[], specification: Specification<S, Answered<C>>) {
  return byKey(calls.map((call) => ({ ...call, key: call.call.key }))).map((of) => ({
    key: of[0]!.key,
    of,
    verdict: linearize(of.flatMap(operationOf), specification),
  }));
}

/** Returns nothing for a call that surely had no effect and reports nothing. */
function operationOf<C extends Call>(made: MadeCall<C>): Operation<Answered<C>>[] {
  const { call, answer, from, until } = made;
  if (isOpen(made)) return [{ what: { call, answer: undefined }, from, until: Infinity }];
  const tells = answer?.outcome === 'done' || answer?.outcome === 'nothing';
  return tells ? [{ what: { call, answer }, from, until }] : [];
}
