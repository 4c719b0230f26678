/** The uses of semaphores that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { Semaphore } from '../../lib/index.js';
import type { Lock, LockService, SemaphoreLock } from '../../lib/index.js';

declare const locks: LockService;

export class Accepted {
  private readonly pool = 'pdf';

  @Semaphore('pdf', { permits: 4 })
  async plain() {}

  @Semaphore((tenant: string) => `tenant/${tenant}`, { permits: 4, permitsPerCall: 2 })
  async byArgument(_tenant: string, _more?: number) {}

  @Semaphore(
    function (this: Accepted, id: string) {
      return `${this.pool}/${id}`;
    },
    {
      permits: 4,
      sharedCount: '/counts/pdf',
      waitMs: 5,
      onContention: 'skip',
      onLost: 'ignore',
      label: 'l',
      reentrant: false,
      connection: 'other',
    },
  )
  async skipped(_id: string): Promise<number | undefined> {
    return 1;
  }

  @Semaphore('feed', { permits: 2 })
  async *generated() {
    yield 1;
  }
}

export class Refused {
  // @ts-expect-error a sync method cannot wait for a permit
  @Semaphore('pdf', { permits: 4 })
  sync() {
    return 1;
  }

  // @ts-expect-error without a number of permits
  @Semaphore('pdf', {})
  async uncounted() {}

  // @ts-expect-error several keys are for DistributedLock only
  @Semaphore(['a', 'b'], { permits: 4 })
  async several() {}

  // @ts-expect-error the key function takes more than the method
  @Semaphore((a: string, b: string) => a + b, { permits: 4 })
  async fewer(_a: string) {}

  // @ts-expect-error a call that is skipped yields undefined
  @Semaphore('pdf', { permits: 4, onContention: 'skip' })
  async neverUndefined(): Promise<number> {
    return 1;
  }

  // @ts-expect-error callers of one process share no permit
  @Semaphore('pdf', { permits: 4, localLine: true })
  async shared() {}
}

export async function asLock(): Promise<boolean> {
  const pool: SemaphoreLock = locks.semaphore('pdf', { permits: 4 });
  const lock: Lock = pool;
  await pool.setPermits(await pool.permits());
  await using lease = await pool.acquire({ permits: 2, waitMs: 1 });
  // @ts-expect-error a plain lock has no permits
  await lock.acquire({ permits: 2 });
  // @ts-expect-error the number of permits is required
  locks.semaphore('pdf');
  return lease.isHeld();
}
