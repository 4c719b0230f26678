import type { SemaphoreSize } from './lock-request.js';

/** How many permits semaphores have, for all who use them. */
export interface PermitCounts {
  /** The number now. @throws LockUnavailableError, LockConfigurationError when what is recorded is no number of permits */
  read(key: string, of: SemaphoreSize): Promise<number>;
  /** Records another number, for all who use the semaphore, from now on. @throws LockUnavailableError */
  set(key: string, of: SemaphoreSize, permits: number): Promise<void>;
}
