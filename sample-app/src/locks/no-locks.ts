import { GrantedLease, nameOf, UNCHANGED } from 'nestjs-distributed-lock';
import type {
  BackendState,
  CampaignRequest,
  Contender,
  CoordinationBackend,
  Elections,
  LockBackend,
  LockBackendDefinition,
  LockRequest,
  RecordChange,
  RecordStore,
  RecordWrite,
  Sighting,
  StoredRecord,
  WonElection,
} from 'nestjs-distributed-lock';
import { noCoordination } from './no-coordination.js';

/** A record store that accepts every write, whatever its conditions, and notifies no other instance. */
class NoRecords implements RecordStore {
  private readonly records = new Map<string, StoredRecord>();

  async read(name: string): Promise<StoredRecord | undefined> {
    return this.records.get(name);
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    return names.map((name) => this.records.get(name));
  }

  async list(name: string): Promise<readonly string[]> {
    const below = [...this.records.keys()].filter((other) => other.startsWith(`${name}/`));
    return below.map((other) => other.slice(name.length + 1));
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    return { isApplied: true, records: changes.map((change) => this.apply(change)).filter((one) => one !== undefined) };
  }

  private apply({ name, value }: RecordChange): StoredRecord | undefined {
    const before = this.records.get(name);
    if (value === UNCHANGED) return before;
    if (typeof value !== 'string') return void this.records.delete(name);
    const record = { name, value, version: (before?.version ?? -1) + 1, writtenAt: new Date() };
    this.records.set(name, record);
    return record;
  }
}

/** An election that every candidate wins. */
class NoElections implements Elections {
  async campaign(request: CampaignRequest): Promise<WonElection> {
    return { lease: granted(request), proclaim: async () => {} };
  }

  async look(): Promise<Sighting> {
    return { leader: null, changed: () => new Promise(() => {}) };
  }
}

function granted(request: LockRequest): GrantedLease {
  const { mode } = request;
  return new GrantedLease({
    key: nameOf(request),
    mode,
    fencingToken: 0n,
    isCurrent: () => true,
    giveBack: async () => {},
  });
}

/** A backend that grants every request at once. It shows what the shop would do without locks. */
class NoLocks implements LockBackend {
  readonly name = 'no locks';
  readonly state: BackendState = 'connected';
  readonly records = new NoRecords();
  readonly elections = new NoElections();
  readonly coordination: CoordinationBackend;

  constructor(shopDir: string) {
    this.coordination = noCoordination(shopDir);
  }

  identify(key: string): string {
    return key;
  }

  async connect(): Promise<void> {}

  async lineOf(): Promise<readonly Contender[]> {
    return [];
  }

  async acquire(request: LockRequest): Promise<GrantedLease> {
    return granted(request);
  }

  async close(): Promise<void> {}
}

/** @param shopDir the directory of the files that the instances share without locks */
export function noLocks(shopDir: string): LockBackendDefinition {
  return { name: 'no locks', create: () => new NoLocks(shopDir) };
}
