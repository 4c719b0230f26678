import type { ContractRunner } from '../backend-contract/backend-contract.js';
import { CUT_LINKS } from './cut-link.checks.js';
import { EXPIRED_SESSIONS } from './expiry.checks.js';
import type { FaultCheck } from './fault-check.js';
import type { FaultSubject } from './fault-subject.js';
import { HALF_OPEN_LINKS } from './half-open-link.checks.js';
import { LOST_REPLIES } from './lost-reply.checks.js';
import { OUTAGES } from './outage.checks.js';
import { ENDED_PROCESSES, PAUSED_PROCESSES } from './process.checks.js';
import { PAUSED_SERVERS, RESTARTED_SERVERS } from './server.checks.js';

/**
 * All checks of a `LockBackend` under faults, for runners that have no `describe` and `it`. Those of a server that is
 * restarted come last, because a server may grant nothing for a while after a restart.
 */
export const BACKEND_FAULT_CHECKS: readonly FaultCheck[] = [
  ...CUT_LINKS,
  ...HALF_OPEN_LINKS,
  ...LOST_REPLIES,
  ...OUTAGES,
  ...EXPIRED_SESSIONS,
  ...PAUSED_PROCESSES,
  ...ENDED_PROCESSES,
  ...PAUSED_SERVERS,
  ...RESTARTED_SERVERS,
];

/**
 * Declares a test for every promise of a `LockBackend` about time and faults. It runs against a real server, with a proxy
 * in front of it. The checks must run one after the other, since they pause the process and the server. Faults that the
 * subject cannot cause are declared in `without`, and their tests say so.
 */
export function backendFaults({ describe, it }: ContractRunner, subject: FaultSubject): void {
  for (const part of new Set(BACKEND_FAULT_CHECKS.map((check) => check.part))) {
    describe(part, () => {
      for (const { title, needs, run } of BACKEND_FAULT_CHECKS.filter((check) => check.part === part)) {
        const reason = needs && subject.without?.[needs];
        if (reason === undefined) it(title, () => run(subject));
        else it(`${title} (not checked: ${reason})`, async () => {});
      }
    });
  }
}
