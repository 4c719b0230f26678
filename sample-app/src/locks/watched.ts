import { nameOf } from 'nestjs-distributed-lock';
import type {
  BackendGuarantees,
  BackendState,
  BackendVitals,
  Contender,
  CoordinationBackend,
  Elections,
  GrantedLease,
  LockBackend,
  LockBackendDefinition,
  LockRequest,
  RecordStore,
  ResolvedRevokeOptions,
  SessionChange,
  Survey,
  SurveyQuestion,
} from 'nestjs-distributed-lock';
import { tellConductor } from './lock-report.js';

/** A backend that passes every call to another backend, and reports requests, leases and releases to the conductor. */
class WatchedBackend implements LockBackend {
  constructor(private readonly inner: LockBackend) {}

  get name(): string {
    return this.inner.name;
  }

  get state(): BackendState {
    return this.inner.state;
  }

  get guarantees(): BackendGuarantees | undefined {
    return this.inner.guarantees;
  }

  get records(): RecordStore {
    return this.inner.records;
  }

  get coordination(): CoordinationBackend | undefined {
    return this.inner.coordination;
  }

  get elections(): Elections | undefined {
    return this.inner.elections;
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

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const key = nameOf(request);
    const { mode } = request;
    tellConductor({ kind: 'asks', key });
    let lease: GrantedLease | null = null;
    try {
      lease = await this.inner.acquire(request);
    } finally {
      if (!lease) tellConductor({ kind: 'refused', key });
    }
    if (!lease) return null;
    const token = String(lease.fencingToken);
    tellConductor({ kind: 'holds', key, mode, token });
    void lease.released.then(() => tellConductor({ kind: 'leaves', key, mode, token }));
    return lease;
  }

  async survey(question: SurveyQuestion): Promise<Survey> {
    return (await this.inner.survey?.(question)) ?? { keys: [], queues: [], isTruncated: false };
  }

  vitals(): BackendVitals {
    const none = { sessionId: undefined, sessionTimeoutMs: undefined, marginMs: undefined, server: undefined };
    return this.inner.vitals?.() ?? none;
  }

  observe(listener: (change: SessionChange) => void): void {
    this.inner.observe?.(listener);
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    await this.inner.revoke?.(key, options);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

export function watched(definition: LockBackendDefinition): LockBackendDefinition {
  return { name: definition.name, create: () => new WatchedBackend(definition.create()) };
}
