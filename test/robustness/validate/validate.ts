import type { History } from '../model/history.js';
import { withFaultsOfServers } from './closed-sessions.js';
import { checkExclusion } from './exclusion.js';
import { checkFencingTokens } from './fencing-tokens.js';
import type { Finding, Validator } from './finding.js';
import { checkLeftovers } from './leftovers.js';
import { checkLiveness } from './liveness.js';
import { checkOutcomes } from './outcomes.js';
import { checkProcesses } from './processes.js';
import { checkRefusals } from './refusals.js';
import { checkRegister } from './register.js';
import { checkSubstance } from './substance.js';
import type { Substance } from './substance.js';
import { checkWakeUps } from './wake-ups.js';

const VALIDATORS: readonly Validator<History>[] = [
  checkExclusion,
  checkFencingTokens,
  checkRegister,
  checkLiveness,
  checkRefusals,
  checkLeftovers,
  checkProcesses,
  checkOutcomes,
  checkWakeUps,
];

/** Returns all violations of promises in a run. */
export function validate(history: History, least: Substance): Finding[] {
  const known = withFaultsOfServers(history);
  return [...VALIDATORS.flatMap((check) => check(known)), ...checkSubstance(history, least)];
}
