import { CLOSING } from './closing.checks.js';
import type { ContractCheck } from './contract-check.js';
import type { ContractSubject } from './contract-stage.js';
import { COORDINATION } from './coordination.checks.js';
import { ELECTIONS } from './election.checks.js';
import { GRANTING } from './granting.checks.js';
import { LEASES } from './lease.checks.js';
import { LINE } from './line.checks.js';
import { READERS } from './readers.checks.js';
import { REVOCATION } from './revocation.checks.js';
import { SEMAPHORES } from './semaphore.checks.js';
import { SETS } from './set.checks.js';
import { SURVEYS } from './survey.checks.js';
import { RECORD_CONDITIONS } from './record-conditions.checks.js';
import { RECORD_READING } from './record-reading.checks.js';
import { RECORD_WRITING } from './record-writing.checks.js';

/**
 * All checks of the `LockBackend` contract, for runners that have no `describe` and `it`. Optional parts (semaphores,
 * sets, revocation, surveys, elections, queues, barriers and values) are checked only where the backend has them.
 */
export const BACKEND_CHECKS: readonly ContractCheck[] = [
  ...GRANTING,
  ...LINE,
  ...READERS,
  ...SEMAPHORES,
  ...SETS,
  ...LEASES,
  ...REVOCATION,
  ...SURVEYS,
  ...CLOSING,
  ...RECORD_READING,
  ...RECORD_WRITING,
  ...RECORD_CONDITIONS,
  ...ELECTIONS,
  ...COORDINATION,
];

/** The two functions that every test runner has: those of `vitest`, `jest`, `node:test`, `mocha`. */
export interface ContractRunner {
  /** Groups the tests that `body` defines. */
  readonly describe: (title: string, body: () => void) => unknown;
  /** Defines a test, which fails when `body` rejects. */
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/**
 * Declares a test for every guarantee of a `LockBackend`. For authors of backends: `backendContract({ describe, it }, {
 * open: () => myBackend(options).create() })`.
 *
 * Not covered: time and faults, for example whether a lease is lost in time. `backendFaults` checks these.
 */
export function backendContract({ describe, it }: ContractRunner, subject: ContractSubject): void {
  for (const part of new Set(BACKEND_CHECKS.map((check) => check.part))) {
    describe(part, () => {
      const checks = BACKEND_CHECKS.filter((check) => check.part === part);
      checks.forEach(({ title, run }) => it(title, () => run(subject)));
    });
  }
}
