import type { SemaphoreSize } from '../contract/lock-request.js';
import type { PermitCounts } from '../contract/permit-counts.js';

/** How many permits semaphores have, in one process. */
export class MemoryPermits implements PermitCounts {
  readonly #recorded = new Map<string, number>();
  readonly #onSet: () => void;

  /** @param onSet called when a number is another one */
  constructor(onSet: () => void) {
    this.#onSet = onSet;
  }

  async read(key: string, of: SemaphoreSize): Promise<number> {
    return this.mostOf(key, of);
  }

  async set(key: string, { sharedCount }: SemaphoreSize, permits: number): Promise<void> {
    this.#recorded.set(nameOf(key, sharedCount), permits);
    this.#onSet();
  }

  mostOf(key: string, { sharedCount, permits }: SemaphoreSize): number {
    return this.#recorded.get(nameOf(key, sharedCount)) ?? permits;
  }
}

function nameOf(key: string, sharedCount = `${key}/permits`): string {
  return sharedCount;
}
