import type {
  BackendState,
  CampaignRequest,
  Contender,
  Elections,
  GrantedLease,
  LockBackend,
  LockBackendDefinition,
  LockRequest,
  RecordStore,
  WonElection,
} from 'nestjs-distributed-lock';
import { tellConductor } from './lock-report.js';

/** Passes everything on to another backend, and tells the conductor who asks, holds and leaves. */
class WatchedBackend implements LockBackend {
  constructor(private readonly inner: LockBackend) {}

  get name(): string {
    return this.inner.name;
  }

  get state(): BackendState {
    return this.inner.state;
  }

  get records(): RecordStore {
    return this.inner.records;
  }

  get elections(): Elections | undefined {
    const { elections } = this.inner;
    return (
      elections && { campaign: (request) => this.campaign(elections, request), look: elections.look.bind(elections) }
    );
  }

  identify(key: string): string {
    return this.inner.identify(key);
  }

  connect(): Promise<void> {
    return this.inner.connect();
  }

  lineOf(key: string): Promise<readonly Contender[]> {
    return this.inner.lineOf(key);
  }

  acquire(request: LockRequest): Promise<GrantedLease | null> {
    return watching(
      request,
      () => this.inner.acquire(request),
      (lease) => lease,
    );
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private campaign(elections: Elections, request: CampaignRequest): Promise<WonElection | null> {
    return watching(
      request,
      () => elections.campaign(request),
      ({ lease }) => lease,
    );
  }
}

async function watching<T>(
  { key, mode }: LockRequest,
  ask: () => Promise<T | null>,
  leaseOf: (granted: T) => GrantedLease,
): Promise<T | null> {
  tellConductor({ kind: 'asks', key });
  let granted: T | null = null;
  try {
    granted = await ask();
  } finally {
    if (!granted) tellConductor({ kind: 'refused', key });
  }
  if (!granted) return null;
  const lease = leaseOf(granted);
  const token = String(lease.fencingToken);
  tellConductor({ kind: 'holds', key, mode, token });
  void lease.released.then(() => tellConductor({ kind: 'leaves', key, mode, token }));
  return granted;
}

export function watched(definition: LockBackendDefinition): LockBackendDefinition {
  return { name: definition.name, create: () => new WatchedBackend(definition.create()) };
}
