import { LockTimeoutError } from '../contract/errors.js';
import type { AcquireOptions } from '../contract/lock.js';

/** Whether an acquisition ended because its time ran out. A caller's own reason is its own, whatever it is. */
export function isTimeout(error: unknown, { signal }: AcquireOptions): error is LockTimeoutError {
  return error instanceof LockTimeoutError && error !== signal?.reason;
}

/** What `acquire` yields when it asks once, unless the options say more; `null` for "not this time". */
export async function trying<L>(
  acquire: (options: AcquireOptions) => Promise<L>,
  options: AcquireOptions,
): Promise<L | null> {
  try {
    return await acquire({ ...options, waitMs: options.waitMs ?? 0 });
  } catch (error) {
    if (isTimeout(error, options)) return null;
    throw error;
  }
}
