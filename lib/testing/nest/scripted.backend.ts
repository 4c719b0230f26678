import type { Contender } from '../../contract/contender.js';
import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { BackendState } from '../../contract/lock-backend.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../../contract/revoke.options.js';
import { zookeeper } from '../../index.js';
import { electionLine, MemoryElections } from '../../memory/memory-elections.js';
import { MemoryBackend } from '../../memory/memory.backend.js';
import type { MemoryPermits } from '../../memory/memory-permits.js';
import { MemoryRecords } from '../../memory/memory-records.js';
import type { ResolvedLockTestingOptions } from './lock-testing.options.js';
import { OtherContender } from './other-contender.js';
import { ReachableElections } from './reachable-elections.js';
import { ReachableRecords } from './reachable-records.js';

/** Locks in memory, to which happens what a test says. */
export class ScriptedBackend extends MemoryBackend {
  override readonly name = 'testing';
  override readonly records = new ReachableRecords(new MemoryRecords(), () => this.#assertReachable());
  override readonly elections = new ReachableElections(
    new MemoryElections({
      identify: (name) => this.identify(name),
      standIn: (line, request) => this.standIn(line, request),
    }),
    () => this.#assertReachable(),
  );
  // Never connected: a key that ZooKeeper would refuse, a test should not pass with.
  readonly #keys = zookeeper({ connectString: 'localhost:2181' }).create();
  readonly #owned = new Set<GrantedLease>();
  readonly #others = new Set<OtherContender>();
  readonly #otherRequests = new WeakSet<LockRequest>();
  readonly #letGo = new Set<string>();
  readonly #contendsAll: boolean;
  #allLetGo = false;
  #isReachable: boolean;

  constructor({ mode, keys }: ResolvedLockTestingOptions) {
    super();
    this.#isReachable = mode !== 'unavailable';
    this.#contendsAll = mode === 'contended' && keys === undefined;
    keys?.forEach((key) => this.#hold(key));
  }

  override get state(): BackendState {
    return this.#isReachable ? 'connected' : 'suspended';
  }

  override identify(key: string): string {
    return this.#keys.identify(key);
  }

  override async connect(): Promise<void> {
    this.#assertReachable();
  }

  protected override async standIn(line: string, request: LockRequest): Promise<GrantedLease | null> {
    request.signal.throwIfAborted();
    this.#assertReachable();
    if (this.#isContended(line, request)) this.#place(line, otherBefore(request, this.permitCounts));
    const lease = await super.standIn(line, request).catch((error: unknown) => {
      throw this.explain(error);
    });
    if (lease) this.#own(lease);
    return lease;
  }

  override async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    this.#assertReachable();
    await super.revoke(key, options);
  }

  override async lineOf(key: string): Promise<readonly Contender[]> {
    this.#assertReachable();
    const requests = this.contenders(key);
    const line = await super.lineOf(key);
    return line.map((contender, place) => (this.#isOther(requests[place]) ? asOther(contender) : contender));
  }

  explain(reason: unknown): unknown {
    return reason instanceof LockTimeoutError && !this.#isReachable ? unavailable(reason.key) : reason;
  }

  contend(key: string, mode: LockRequest['mode']): OtherContender {
    const other = new OtherContender(key, mode);
    return this.#place(this.lineFor(other.request), other);
  }

  /** Everybody else gives the key back, and does not come again; without a key, every key. */
  async letGo(key?: string): Promise<void> {
    const identity = key === undefined ? undefined : this.identify(key);
    if (identity === undefined) this.#allLetGo = true;
    else this.#letGo.add(identity);
    const others = [...this.#others].filter((other) => identity === undefined || this.identify(other.key) === identity);
    others.forEach((other) => this.#others.delete(other));
    await Promise.all(others.map((other) => other.letGo()));
  }

  setReachable(isReachable: boolean): void {
    if (isReachable === this.#isReachable) return;
    this.#isReachable = isReachable;
    for (const lease of this.#owned) {
      if (isReachable) lease.resume();
      else lease.suspend();
    }
  }

  /** @returns whether the application had any */
  loseLeases(key: string): boolean {
    const identity = this.identify(key);
    const own = [...this.#owned].filter((lease) => this.identify(lease.key) === identity);
    for (const lease of own) lease.lose(new LockLostError(lease.key, 'the test has it lost'));
    for (const lease of own) void lease.release();
    return own.length > 0;
  }

  #own(lease: GrantedLease): void {
    this.#owned.add(lease);
    if (!this.#isReachable) lease.suspend();
    void lease.released.then(() => this.#owned.delete(lease));
  }

  /** Somebody else has the key, and leads the election of that name. */
  #hold(key: string): void {
    this.contend(key, 'exclusive');
    this.#place(electionLine(this.identify(key)), new OtherContender(key, 'exclusive'));
  }

  #isContended(line: string, { key }: LockRequest): boolean {
    if (!this.#contendsAll || this.#allLetGo || this.#letGo.has(this.identify(key))) return false;
    return this.isEmpty(line);
  }

  #place(line: string, other: OtherContender): OtherContender {
    this.#others.add(other);
    this.#otherRequests.add(other.request);
    other.enter((request) => super.standIn(line, request));
    return other;
  }

  #isOther(request: LockRequest | undefined): boolean {
    return request !== undefined && this.#otherRequests.has(request);
  }

  #assertReachable(): void {
    if (!this.#isReachable) throw unavailable();
  }
}

/** Somebody who holds so much that the request gets nothing. */
function otherBefore({ key, permits }: LockRequest, counts: MemoryPermits): OtherContender {
  if (!permits) return new OtherContender(key, 'exclusive');
  return new OtherContender(key, 'permit', { ...permits, count: counts.mostOf(key, permits.of) });
}

function asOther(contender: Contender): Contender {
  return { ...contender, owner: { ...contender.owner, host: 'elsewhere', pid: undefined }, isOwn: false };
}

function unavailable(key?: string): LockUnavailableError {
  return new LockUnavailableError('no server answers: the test has them unavailable', { key });
}
