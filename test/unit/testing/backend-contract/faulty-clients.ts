/** Clients of one service in memory that break a promise which one client alone cannot break. */
import type { Elections } from '../../../../lib/contract/elections.js';
import type { Contender } from '../../../../lib/contract/contender.js';
import { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import { MemoryBackend, MemoryPermits } from '../../../../lib/memory/memory.backend.js';
import { MemoryCoordination } from '../../../../lib/memory/memory-coordination.js';
import { MemoryRecords } from '../../../../lib/memory/memory-records.js';
import { MemoryClient } from './memory-service.js';

export class LocksOfEachClient extends MemoryClient {
  constructor(_service: MemoryBackend) {
    super(new MemoryBackend());
  }
}

export class RecordsOfEachClient extends MemoryClient {
  override readonly records = new MemoryRecords();
}

export class PermitCountsOfEachClient extends MemoryClient {
  override readonly permitCounts = new MemoryPermits(() => {});
}

export class CoordinationOfEachClient extends MemoryClient {
  override readonly coordination = new MemoryCoordination();
}

export class ElectionsOfEachClient extends MemoryClient {
  override readonly elections: Elections = new MemoryBackend().elections;
}

export class IdentityOfEachClient extends MemoryClient {
  readonly #own = Math.random();

  override identify(key: string): string {
    return `${key} ${this.#own}`;
  }
}

export class ClosesOnlyItself extends MemoryClient {
  override async close(): Promise<void> {}
}

export class CallsAllItsOwn extends MemoryClient {
  override async lineOf(key: string): Promise<readonly Contender[]> {
    return (await super.lineOf(key)).map((contender) => ({ ...contender, isOwn: true }));
  }
}

export class TokensOfEachClient extends MemoryClient {
  #tokens = 0n;

  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const lease = await super.acquire(request);
    if (!lease) return null;
    const { key, mode } = lease;
    return new GrantedLease({
      key,
      mode,
      fencingToken: ++this.#tokens,
      isCurrent: () => lease.isHeld(),
      giveBack: () => lease.release(),
    });
  }
}

/** Does not tell a holder that another contender waits. */
export class TellsNoHolder extends MemoryClient {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const lease = await super.acquire(request);
    if (!lease) return null;
    const { key, mode, fencingToken } = lease;
    return new GrantedLease({
      key,
      mode,
      fencingToken,
      isCurrent: () => lease.isHeld(),
      giveBack: () => lease.release(),
      demand: { watch: () => () => {} },
    });
  }
}

/** Takes a key that may be kept away, although its holder uses it. */
export class TakesKeptKeys extends MemoryClient {
  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const [holder] = this.service.contenders(request.key);
    const isKept = holder?.keeps === true;
    if (isKept && !request.wait) await this.service.leaseOn(request.key)?.release();
    return super.acquire(request);
  }
}
