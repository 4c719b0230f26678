import { checkLeftovers } from '../../robustness/validate/leftovers.js';
import { checkProcesses } from '../../robustness/validate/processes.js';
import { checkRefusals } from '../../robustness/validate/refusals.js';
import { checkRegister } from '../../robustness/validate/register.js';
import { checkVainWaits } from './vain.js';
import type { VainLimits } from './vain.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';
import { checkAllLiveness, checkAnswers } from './answers.js';
import type { Limits } from './answers.js';
import { checkDoubleBarriers } from './double-barrier.js';
import { checkBeliefs } from './beliefs.js';
import type { BeliefLimits } from './beliefs.js';
import { checkCrowds } from './crowds.js';
import type { CrowdLimits } from './crowds.js';
import { checkFailOver } from './fail-over.js';
import type { FailOverLimits } from './fail-over.js';
import { checkFifo } from './fifo.js';
import { checkLeading } from './leading.js';
import { checkLeases, checkTerms } from './leases.js';
import { checkPermits } from './permits.js';
import { checkQueues } from './queue.js';
import { checkRuns } from './runs.js';
import { checkStock } from './stock.js';
import { checkTurns } from './turns.js';
import { checkValues } from './values.js';

/** The time limits of a run, in simulated milliseconds. */
export interface Bounds extends Limits, VainLimits, CrowdLimits, BeliefLimits, FailOverLimits {
  /**
   * The time after a fault until every process works again and nothing of a dead process is left: some session
   * timeouts.
   */
  readonly calmMs: number;
  /**
   * The time for which a process hands a key on among its callers once another process waits. It includes the time
   * until it is notified. Default: any time.
   */
  readonly turnMs?: number | undefined;
  /** Whether links are fast enough to prove a session in time. Default: true. */
  readonly keepsLeases?: boolean | undefined;
  /** The time after the start, or after a fault, until there is a leader where all campaign. Default: any time. */
  readonly leadMs?: number | undefined;
}

/** Finds everything in a run that a promise rules out. */
export function judge(history: SimulationHistory, bounds: Bounds): Finding[] {
  const { callMs, calmMs, turnMs = Infinity, leadMs = Infinity } = bounds;
  return [
    ...checkLeases(history),
    ...checkTerms(history),
    ...checkRegister(history),
    ...checkPermits(history),
    ...checkRuns(history, bounds.keepsLeases === false ? Infinity : calmMs, bounds.turnMs),
    ...checkStock(history),
    ...checkQueues(history, callMs + calmMs),
    ...checkDoubleBarriers(history, bounds),
    ...checkValues(history),
    ...checkFifo(history),
    ...checkLeading(history, leadMs),
    ...checkFailOver(history, bounds),
    ...checkTurns(history, turnMs),
    ...checkBeliefs(history, bounds),
    ...checkCrowds(history, bounds),
    ...checkVainWaits(history, bounds),
    ...checkAllLiveness(history, bounds),
    ...checkRefusals(history),
    ...checkLeftovers(history),
    ...checkProcesses(history),
    ...checkAnswers(history),
  ];
}
