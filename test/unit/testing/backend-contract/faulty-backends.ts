/** Backends in memory that break one promise each, as real ones have. */
import type { Contender } from '../../../../lib/contract/contender.js';
import type { HoldersQuestion } from '../../../../lib/contract/lock-backend.js';
import { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { Grant } from '../../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';

type Memory = new () => MemoryBackend;
type Acquire = (request: LockRequest) => Promise<GrantedLease | null>;

const NEVER = new AbortController().signal;

/** The lease of the correct backend, with some fields changed. */
function regranted(lease: GrantedLease | null, changes: Partial<Grant>): GrantedLease | null {
  if (!lease) return null;
  const { key, mode, fencingToken } = lease;
  const giveBack = () => lease.release();
  const grant = { key, mode, fencingToken, isCurrent: () => lease.isHeld(), giveBack, ...changes };
  const made = new GrantedLease(grant);
  lease.addFollower(made);
  return made;
}

/** A backend with another acquire(). */
function acquiring(change: (request: LockRequest, sound: Acquire) => Promise<GrantedLease | null>): Memory {
  return class extends MemoryBackend {
    override acquire(request: LockRequest): Promise<GrantedLease | null> {
      return change(request, (one) => super.acquire(one));
    }
  };
}

/** Accepts any key. */
export class TakesAnyKey extends MemoryBackend {
  override identify(key: string): string {
    return key;
  }
}

export const GrantsAll = acquiring(async ({ key, mode }) => {
  return new GrantedLease({ key, mode, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} });
});

export const NeverAsksOnce = acquiring((request, sound) => sound({ ...request, wait: true }));

export const KeepsPlacesWithoutWait = acquiring(async (request, sound) => {
  const lease = await sound(request);
  if (!lease) sound({ ...request, wait: true, signal: NEVER }).catch(() => {});
  return lease;
});

/** The release removes the writer's entry, which is the reader's by then. */
export const LeavesTheReaderBehind = acquiring(async (request, sound) => {
  const lease = await sound(request);
  let isReader = false;
  return regranted(lease, {
    async downgrade() {
      isReader = true;
      await lease?.downgrade();
    },
    async giveBack() {
      if (!isReader) await lease?.release();
    },
  });
});

export const RejectsWithItsOwnReason = acquiring((request, sound) =>
  sound(request).catch(() => Promise.reject(new Error('aborted'))),
);

export const RejectsBeforeItLeaves = acquiring((request, sound) => {
  const aborted = new Promise<never>((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
  });
  return Promise.race([sound({ ...request, signal: NEVER }), aborted]);
});

export const IgnoresAborts = acquiring((request, sound) => sound({ ...request, signal: NEVER }));

export const LinesUpForTheAborted = acquiring(async (request, sound) => {
  const lease = await sound({ ...request, signal: NEVER });
  request.signal.throwIfAborted();
  return lease;
});

export const TakesBackLate = acquiring(async (request, sound) => {
  const lease = await sound(request);
  request.signal.addEventListener('abort', () => void lease?.release());
  return lease;
});

export const LeavesListeners = acquiring((request, sound) => {
  request.signal.addEventListener('abort', () => {});
  return sound(request);
});

export const SameTokenAlways = acquiring(async (request, sound) =>
  regranted(await sound(request), { fencingToken: 7n }),
);

export const TokensFall = acquiring(async (request, sound) => {
  const lease = await sound(request);
  return regranted(lease, { fencingToken: 2n ** 60n - (lease?.fencingToken ?? 0n) });
});

export const NeverGivesBack = acquiring(async (request, sound) =>
  regranted(await sound(request), { giveBack: async () => {} }),
);

export const ReleaseHangs = acquiring(async (request, sound) =>
  regranted(await sound(request), { giveBack: () => new Promise(() => {}) }),
);

export const NamesItsOwnKey = acquiring(async (request, sound) =>
  regranted(await sound(request), { key: `/locks/${request.key}` }),
);

export const ReadersAreAlone = acquiring(async (request, sound) =>
  regranted(await sound({ ...request, mode: 'exclusive' }), { mode: request.mode }),
);

export const WritersReadAlong = acquiring(async (request, sound) => {
  const mode = request.mode === 'write' ? 'read' : request.mode;
  return regranted(await sound({ ...request, mode }), { mode: request.mode });
});

export const NoLineIsNoLock = acquiring(async (request, sound) =>
  request.line === 'none'
    ? new GrantedLease({ ...request, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} })
    : sound(request),
);

/** Serves the newest contender first. */
export class LastComeFirstServed extends MemoryBackend {
  readonly #stack: (() => void)[] = [];

  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    if (this.leaseOn(request.key)) await new Promise<void>((resolve) => this.#stack.push(resolve));
    return regranted(await super.acquire(request), { giveBack: () => this.#giveBack(request.key) });
  }

  override async lineOf(key: string): Promise<readonly Contender[]> {
    const [held] = await super.lineOf(key);
    return held ? [held, ...this.#stack.map(() => ({ ...held, state: 'waiting' as const }))] : [];
  }

  async #giveBack(key: string): Promise<void> {
    await this.leaseOn(key)?.release();
    this.#stack.pop()?.();
  }
}

/** Readers join a reader that holds, even past waiting requests. */
export class ReadersOvertake extends MemoryBackend {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const { key, mode } = request;
    if (mode !== 'read' || this.leaseOn(key)?.mode !== 'read') return super.acquire(request);
    return new GrantedLease({ key, mode, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} });
  }

  override async lineOf(key: string): Promise<readonly Contender[]> {
    const line = await super.lineOf(key);
    // Makes the readers that overtook appear in the queue as well.
    return line.length > 1 ? [...line, line[0]!, line[0]!] : line;
  }
}

export class OneLockForAll extends MemoryBackend {
  override identify(): string {
    return 'all';
  }
}

export class ShowsNobody extends MemoryBackend {
  override async lineOf(): Promise<readonly Contender[]> {
    return [];
  }
}

/** Reports every contender as a holder. */
export class ShowsWaitersAsHolders extends MemoryBackend {
  async holdersOf({ key, most }: HoldersQuestion): Promise<readonly Contender[]> {
    return (await this.lineOf(key)).slice(0, most);
  }
}

/** Reports all holders, however many are requested. */
export class ShowsAllHolders extends MemoryBackend {
  async holdersOf({ key }: HoldersQuestion): Promise<readonly Contender[]> {
    return (await this.lineOf(key)).filter(({ state }) => state === 'held');
  }
}

export class ShowsTheLastFirst extends MemoryBackend {
  override async lineOf(key: string): Promise<readonly Contender[]> {
    return (await super.lineOf(key)).toReversed();
  }
}

export class NeverConnects extends MemoryBackend {
  override connect(): Promise<void> {
    return new Promise(() => {});
  }
}

export class NeverCloses extends MemoryBackend {
  override async close(): Promise<void> {}
}

export class ClosesOnce extends MemoryBackend {
  #isClosed = false;

  override async close(): Promise<void> {
    if (this.#isClosed) throw new Error('closed already');
    this.#isClosed = true;
    await super.close();
  }
}

/** Grants a permit to every request that does not wait, ahead of the waiters. */
export class PermitsWithoutLine extends MemoryBackend {
  override acquire(request: LockRequest): Promise<GrantedLease | null> {
    if (!request.permits || request.wait) return super.acquire(request);
    const { key, mode } = request;
    return Promise.resolve(
      new GrantedLease({ key, mode, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} }),
    );
  }
}

export class PermitsAreLocks extends MemoryBackend {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const { permits: _, ...asLock } = request;
    return regranted(await super.acquire({ ...asLock, mode: 'exclusive' }), { mode: request.mode });
  }
}

/** Queues a waiting request, and grants it a moment later anyway. */
export const GrantsToWaiters = acquiring((request, sound) => {
  const asked = sound(request);
  asked.catch(() => {});
  const { key, mode } = request;
  const grant = { key, mode, fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} };
  const soon = new Promise<GrantedLease>((resolve) => setTimeout(() => resolve(new GrantedLease(grant)), 1));
  return Promise.race([asked, soon]);
});
