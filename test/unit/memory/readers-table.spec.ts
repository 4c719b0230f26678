import { describe, expect, it } from 'vitest';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { READERS_TABLE } from '../../support/sharing/readers-table.js';
import type { TwoBackends } from '../../support/sharing/readers-table.js';

function both(backend: MemoryBackend): TwoBackends {
  return { one: backend, other: backend };
}

describe('locks in memory: readers of one process', () => {
  it.each(READERS_TABLE)('$title', async ({ run }) => {
    await expect(run(both(new MemoryBackend()))).resolves.toBeUndefined();
  });
});

/** A planted defect: the key counts as taken whenever there is a contender, even a reader. */
class RefusingBackend extends MemoryBackend {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const isRefused = !request.wait && this.contenders(request.key).length > 0;
    return isRefused ? null : super.acquire(request);
  }
}

/** A planted defect: readers that wait overtake a waiting writer. */
class OvertakingBackend extends MemoryBackend {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const overtakes = request.wait && request.mode === 'read' && this.contenders(request.key).some(isWriter);
    return super.acquire(overtakes ? { ...request, key: `${request.key}/overtaking` } : request);
  }
}

const isWriter = ({ mode }: LockRequest) => mode === 'write';

describe('the table detects', () => {
  const failures = async (backend: MemoryBackend, pattern: RegExp): Promise<number> => {
    const cells = READERS_TABLE.filter(({ title }) => pattern.test(title));
    expect(cells.length).toBeGreaterThan(0);
    const outcomes = await Promise.allSettled(cells.map(({ run }) => run(both(backend))));
    return outcomes.filter(({ status }) => status === 'rejected').length;
  };

  it('a backend that refuses readers beside readers', async () => {
    expect(await failures(new RefusingBackend(), /reader of another .* (tryAcquire|skip), with no local queue/)).toBe(
      6,
    );
  });

  it('a backend whose readers overtake a writer', async () => {
    expect(await failures(new OvertakingBackend(), /process waits: the first asks by acquire/)).toBe(3);
  });
});
