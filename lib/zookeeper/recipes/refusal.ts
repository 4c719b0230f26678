import { ErrorCode } from '../session/requests.js';
import type { MultiResult } from '../session/requests.js';

/** Which operation made its transaction fail; -1 when it was applied. The others only say that another one did. */
export function refusedAt(results: readonly MultiResult[]): number {
  return results.findIndex(({ error }) => error !== ErrorCode.ok && error !== ErrorCode.runtimeInconsistency);
}
