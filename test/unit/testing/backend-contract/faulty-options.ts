/** Backends in memory whose sets, revocation, elections, queues, barriers or values break one promise each. */
import type {
  Barriers,
  EnteredMember,
  EnterRequest,
  PassRequest,
  Cell,
  CellChange,
  CellWrite,
  QueuePutRequest,
  QueueTakeRequest,
  TakenItem,
} from '../../../../lib/contract/coordination-backend.js';
import type { CampaignRequest, Elections, Sighting, WonElection } from '../../../../lib/contract/elections.js';
import { LockLostError } from '../../../../lib/contract/errors.js';
import type { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../../../../lib/contract/revoke.options.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';
import {
  MemoryBarriers,
  MemoryCells,
  MemoryCoordination,
  MemoryQueues,
} from '../../../../lib/memory/memory-coordination.js';

const NEVER = new AbortController().signal;

export class SetsOneAfterAnother extends MemoryBackend {
  override async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const leases: GrantedLease[] = [];
    for (const request of requests) {
      const lease = await this.acquire(request);
      if (!lease) return null;
      leases.push(lease);
      await new Promise(setImmediate);
    }
    return leases;
  }
}

export class SetsInTheirOwnOrder extends MemoryBackend {
  override async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    return (await super.acquireAll(requests))?.toReversed() ?? null;
  }
}

export class SetsThatStay extends MemoryBackend {
  override acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const asked = super.acquireAll(requests.map((request) => ({ ...request, signal: NEVER })));
    const aborted = new Promise<never>((_, reject) => {
      const [first] = requests;
      first?.signal.addEventListener('abort', () => reject(first.signal.reason), { once: true });
    });
    return Promise.race([asked, aborted]);
  }
}

export class RevokesAtOnce extends MemoryBackend {
  override revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    return super.revoke(key, { ...options, graceMs: 0 });
  }
}

export class AsksOnly extends MemoryBackend {
  override revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    return super.revoke(key, { ...options, graceMs: Infinity });
  }
}

/** Asks one holder to give way, whatever their number. */
export class AsksOneHolder extends MemoryBackend {
  override async revoke(key: string): Promise<void> {
    const lease = this.leaseOn(key);
    lease?.revoke();
    await lease?.released;
  }
}

export class RevokesUnasked extends MemoryBackend {
  override async revoke(key: string): Promise<void> {
    const lease = this.leaseOn(key);
    lease?.lose(new LockLostError(key, 'revoked'));
    await lease?.release();
  }
}

export class WaitsForAHolder extends MemoryBackend {
  override async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    if (!this.leaseOn(key)) await new Promise(() => {});
    await super.revoke(key, options);
  }
}

type Memory = new () => MemoryBackend;

function electing(changes: (inner: Elections, backend: MemoryBackend) => Partial<Elections>): Memory {
  const sound = new MemoryBackend();
  return class extends MemoryBackend {
    override readonly elections: Elections = {
      campaign: (request) => sound.elections.campaign(request),
      look: (...at) => sound.elections.look(...at),
      ...changes(sound.elections, this),
    };
  };
}

let elected = 0;

export const ElectsAll = electing((inner) => ({
  campaign: (request: CampaignRequest): Promise<WonElection | null> =>
    inner.campaign({ ...request, key: `${request.key}/${++elected}` }),
}));

export const SeesNobody = electing(() => ({
  look: async (): Promise<Sighting> => ({ leader: null, changed: () => new Promise(() => {}) }),
}));

export const ProclaimsNothing = electing((inner) => ({
  campaign: async (request: CampaignRequest): Promise<WonElection | null> => {
    const won = await inner.campaign(request);
    return won && { ...won, proclaim: async () => {} };
  },
}));

export const CampaignsOn = electing((inner) => ({
  campaign: (request: CampaignRequest): Promise<WonElection | null> => inner.campaign({ ...request, signal: NEVER }),
}));

export const LeadsByLock = electing((_, backend) => ({
  campaign: async (request: CampaignRequest): Promise<WonElection | null> => {
    const lease = await backend.acquire(request);
    return lease && { lease, proclaim: async () => {} };
  },
}));

function coordinating(changes: Partial<MemoryCoordination>): Memory {
  return class extends MemoryBackend {
    override readonly coordination = Object.assign(new MemoryCoordination(), changes);
  };
}

export const TakesForGood = () =>
  coordinating({
    queues: new (class extends MemoryQueues {
      override async take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
        const items = await super.take(request);
        await Promise.all(items.map((item) => item.ack()));
        return items;
      }
    })(),
  });

export const WakesNoTaker = () =>
  coordinating({
    queues: new (class extends MemoryQueues {
      override take(request: QueueTakeRequest): Promise<readonly TakenItem[]> {
        return request.wait ? new Promise(() => {}) : super.take(request);
      }
    })(),
  });

export const NeverFull = () =>
  coordinating({
    queues: new (class extends MemoryQueues {
      override put(request: QueuePutRequest): Promise<boolean> {
        return super.put({ ...request, maxItems: undefined });
      }
    })(),
  });

export const AlwaysDown = () =>
  coordinating({
    barriers: new (class extends MemoryBarriers {
      override async pass(_request: PassRequest): Promise<boolean> {
        return true;
      }
    })(),
  });

export const EntersAlone = () =>
  coordinating({
    barriers: new (class extends MemoryBarriers implements Barriers {
      override enter(request: EnterRequest): Promise<EnteredMember> {
        return super.enter({ ...request, count: 1 });
      }
    })(),
  });

export const WritesWhatever = () =>
  coordinating({
    cells: new (class extends MemoryCells {
      override write(key: string, { data }: CellChange): Promise<CellWrite> {
        return super.write(key, { data });
      }
    })(),
  });

export const TellsNothing = () =>
  coordinating({
    cells: new (class extends MemoryCells {
      override next(): Promise<Cell | undefined> {
        return new Promise(() => {});
      }
    })(),
  });
