import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn } from '../model/history.js';
import type { SimulationHistory } from '../model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import { Trouble } from './trouble.js';

/** Where every application campaigns all the time, there is a leader. Not all applications may be refused for long. */
export function checkLeading(
  history: Pick<SimulationHistory, 'calls' | 'attempts' | 'faults'>,
  calmMs: number,
): Finding[] {
  const trouble = new Trouble(history);
  const polls = asking(callsOn(history, 'election'), 'poll').map((one) => ({ ...one, key: one.call.key }));
  return byKey(polls).flatMap((ofElection) => {
    const inOrder = [...ofElection].sort((a, b) => a.calledAt - b.calledAt);
    let ledAt = inOrder[0]?.calledAt ?? 0;
    for (const { answer, calledAt, returnedAt = calledAt, key } of inOrder) {
      if (answer?.outcome === 'done') ledAt = Math.max(ledAt, returnedAt);
      if (answer?.outcome !== 'nothing') continue;
      if (calledAt > ledAt + calmMs && trouble.isCalm(calledAt, calledAt, calmMs)) {
        const message = `nobody has led "${key}" from ${ledAt} to ${calledAt}, although nothing was broken any more`;
        return [{ check: 'terms', message, records: [] }];
      }
    }
    return [];
  });
}
