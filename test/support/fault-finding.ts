import { AssertionError } from 'node:assert';
import { BACKEND_FAULT_CHECKS } from '../../lib/testing/index.js';
import type { FaultSubject } from '../../lib/testing/index.js';

/** The longest wait of a check of a planted defect, for an event that never comes. */
const LIMIT_MS = 5_000;

const ATTEMPTS = 3;

/**
 * Runs a check on a backend with a planted defect, again if the defect did not show.
 * @returns what the check finds; `undefined`: nothing
 */
export async function findingOf(title: string, subject: FaultSubject): Promise<string | undefined> {
  const check = BACKEND_FAULT_CHECKS.find((one) => one.title === title);
  if (!check) throw new Error(`no check is called "${title}"`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const error: unknown = await check.run({ limitMs: LIMIT_MS, ...subject }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    // Anything else is a fault of the check, and proves none of the backend.
    if (error !== undefined && !(error instanceof AssertionError)) throw error;
    if (error) return error.message;
  }
  return undefined;
}
