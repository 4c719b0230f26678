import { orAbort } from '../async/abort.js';
import { limited } from '../async/timer.js';
import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import type { Contender } from '../contract/contender.js';
import type { CoordinationBackend } from '../contract/coordination-backend.js';
import type { Elections } from '../contract/elections.js';
import { LockLostError, LockShutdownError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/granted-lease.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { grantAll } from '../contract/granted-set.js';
import { checkKey } from '../contract/key.js';
import type { BackendState, LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import { nameOf } from '../contract/lock-request.js';
import type { LockRequest, SemaphoreSize } from '../contract/lock-request.js';
import type { RecordStore } from '../contract/record-store.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import { SessionChanges } from '../contract/session-changes.js';
import type { BackendVitals, SessionChange, Survey, SurveyedKey, SurveyQuestion } from '../contract/survey.js';
import { MemoryContenders } from './memory-contenders.js';
import type { MemoryContender } from './memory-contenders.js';
import { MemoryCoordination, MemoryQueues } from './memory-coordination.js';
import { electionOfLine, MemoryElections } from './memory-elections.js';
import { MemoryRecords } from './memory-records.js';

const GUARANTEES: BackendGuarantees = Object.freeze({
  decidedBy: 'this process',
  clocks: 'none',
  failOver: 'ends with the process',
  writtenAt: 'writer',
  records: 'end with the process',
  sets: 'any keys',
  advice: [],
});

/**
 * Locks inside one process: the reference implementation of the contract, and the backend of unit tests. It does not
 * exclude other processes.
 */
export class MemoryBackend implements LockBackend {
  readonly name: string = 'memory';
  readonly guarantees: BackendGuarantees = GUARANTEES;
  readonly records: RecordStore = new MemoryRecords();
  readonly coordination: CoordinationBackend = new MemoryCoordination();
  protected readonly permits = new MemoryPermits(() => this.grantTurns());
  readonly permitCounts: PermitCounts = this.permits;
  readonly elections: Elections = new MemoryElections({
    identify: (name) => this.identify(name),
    standIn: (line, request) => this.standIn(line, request),
  });
  /** The wait queues by name. Permits and leaderships have queues of their own. */
  readonly #lines = new Map<string, MemoryContenders>();
  protected readonly changes = new SessionChanges();
  #tokens = 0n;
  #closed = false;

  get state(): BackendState {
    return 'connected';
  }

  identify(key: string): string {
    checkKey(key);
    return key;
  }

  /** There is no session here, and no server. */
  vitals(): BackendVitals {
    return { sessionId: undefined, sessionTimeoutMs: undefined, marginMs: undefined, server: undefined };
  }

  observe(listener: (change: SessionChange) => void): void {
    this.changes.observe(listener);
  }

  async connect(): Promise<void> {
    this.changes.connected({});
  }

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    return this.standIn(this.lineFor(request), request);
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const broken = new Error('one of the leases was lost, or asked for, before the others were there');
    // Each request is queued before its call returns, so no other request is queued in between.
    const granted = grantAll(requests, this.acquire.bind(this), () => broken);
    return granted.catch((error: unknown) => (error === broken ? this.acquireAll(requests) : Promise.reject(error)));
  }

  /** Returns every lease and every contender of the key, in queue order, for tests to look at. */
  contenders(key: string): readonly LockRequest[] {
    return this.standingIn(this.identify(key)).map(({ contender }) => contender.request);
  }

  /** Returns the current lease on the key, if any. */
  leaseOn(key: string): GrantedLease | undefined {
    return this.standingIn(this.identify(key)).find(({ contender }) => contender.lease)?.contender.lease;
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    return this.standingIn(this.identify(key)).map(({ contender }) => described(contender));
  }

  async survey({ prefix = '', mostKeys, mostContenders, signal }: SurveyQuestion): Promise<Survey> {
    signal.throwIfAborted();
    const all = [...this.#lines].map(([name, { inOrder }]) => ({ ...nameOfLine(name), line: inOrder.map(described) }));
    const queues = this.coordination.queues instanceof MemoryQueues ? this.coordination.queues.sizes : [];
    const found = [...all, ...queues].filter(({ key }) => key.startsWith(prefix));
    const keys = found.slice(0, mostKeys).flatMap((one): SurveyedKey[] => {
      if (!('line' in one)) return [];
      const [holders, waiters] = (['held', 'waiting'] as const).map((state) =>
        one.line.filter((it) => it.state === state),
      );
      return [{ key: one.key, kind: one.kind, ...firstOf(holders ?? [], waiters ?? [], mostContenders) }];
    });
    const sizes = found.slice(0, mostKeys).flatMap((one) => ('items' in one ? [one] : []));
    return { keys, queues: sizes, isTruncated: found.length > mostKeys };
  }

  async revoke(key: string, { graceMs, signal }: ResolvedRevokeOptions): Promise<void> {
    signal?.throwIfAborted();
    const holders = this.standingIn(this.identify(key)).flatMap(({ line, contender }) => {
      return contender.lease ? [{ line, contender, lease: contender.lease }] : [];
    });
    holders.forEach(({ lease }) => lease.revoke());
    const given = Promise.all(holders.map(({ lease }) => lease.released));
    if (await limited(graceMs, signal, (limit) => orAbort(given, limit))) return;
    for (const { line, contender, lease } of holders) {
      lease.lose(new LockLostError(key, 'it was revoked, and not given back in time'));
      line.leave(contender);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    lines.forEach((line) => line.close());
    this.changes.closed();
  }

  /** Queues the request in the wait queue of this name before the call returns. In all else it behaves as `acquire`. */
  protected async standIn(name: string, request: LockRequest): Promise<GrantedLease | null> {
    request.signal.throwIfAborted();
    if (this.#closed) throw new LockShutdownError(nameOf(request));
    const line = this.#lines.get(name) ?? this.#newLine(name);
    return line.stand(request);
  }

  /** Returns the name of the wait queue for a request. */
  protected lineFor({ key, permits }: LockRequest): string {
    const identity = this.identify(key);
    return permits ? permitLine(identity) : identity;
  }

  /** Whether the wait queue of this name is empty. */
  protected isEmpty(name: string): boolean {
    return !this.#lines.has(name);
  }

  /** Whether a contender whose turn it is may be granted. */
  protected mayGrant(_request: LockRequest): boolean {
    return true;
  }

  /** Grants every contender whose turn it is, in every wait queue. */
  protected grantTurns(): void {
    [...this.#lines.values()].forEach((line) => line.grantTurns());
  }

  #newLine(name: string): MemoryContenders {
    const line = new MemoryContenders({
      nextToken: () => fencingTokenOf(++this.#tokens),
      mostOf: (key, of) => this.permits.mostOf(key, of),
      mayGrant: (request) => this.mayGrant(request),
      onEmpty: () => this.#lines.delete(name),
    });
    this.#lines.set(name, line);
    return line;
  }

  /** Returns the contenders for the key and for permits of it, each with its wait queue. */
  protected standingIn(identity: string): { readonly line: MemoryContenders; readonly contender: MemoryContender }[] {
    const lines = [identity, permitLine(identity)].map((name) => this.#lines.get(name));
    return lines.flatMap((line) => line?.inOrder.map((contender) => ({ line, contender })) ?? []);
  }
}

// No key ends with a slash.
function permitLine(identity: string): string {
  return `${identity}/`;
}

/** Returns the key and the kind of a wait queue. */
function nameOfLine(name: string): Pick<SurveyedKey, 'key' | 'kind'> {
  const election = electionOfLine(name);
  if (election !== undefined) return { key: election, kind: 'election' };
  return name.endsWith('/') ? { key: name.slice(0, -1), kind: 'semaphore' } : { key: name, kind: 'lock' };
}

function firstOf(holders: readonly Contender[], waiters: readonly Contender[], most: number) {
  const first = { holders: holders.slice(0, most), waiters: waiters.slice(0, most) };
  return { ...first, holding: holders.length, waiting: waiters.length };
}

function described({ request, lease, since }: MemoryContender): Contender {
  return {
    state: lease ? 'held' : 'waiting',
    mode: request.mode,
    permits: request.permits?.count,
    owner: { pid: process.pid, label: request.label },
    since,
    isOwn: true,
    isLocal: false,
    isKept: false,
  };
}

export function memory(): LockBackendDefinition {
  return { name: 'memory', create: () => new MemoryBackend() };
}

/** The numbers of permits of semaphores, inside one process. */
export class MemoryPermits implements PermitCounts {
  readonly #recorded = new Map<string, number>();
  readonly #onSet: () => void;

  /** @param onSet called when a number has been set */
  constructor(onSet: () => void) {
    this.#onSet = onSet;
  }

  async read(key: string, of: SemaphoreSize): Promise<number> {
    return this.mostOf(key, of);
  }

  async set(key: string, { sharedCount }: SemaphoreSize, permits: number): Promise<void> {
    this.#recorded.set(recordedName(key, sharedCount), permits);
    this.#onSet();
  }

  mostOf(key: string, { sharedCount, permits }: SemaphoreSize): number {
    return this.#recorded.get(recordedName(key, sharedCount)) ?? permits;
  }
}

function recordedName(key: string, sharedCount = `${key}/permits`): string {
  return sharedCount;
}
