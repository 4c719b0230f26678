import type { Contender } from '../../contract/contender.js';
import type { CoordinationBackend } from '../../contract/coordination-backend.js';
import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { BackendState } from '../../contract/lock-backend.js';
import { nameOf } from '../../contract/lock-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { PermitCounts } from '../../contract/semaphore.options.js';
import type { RecordStore } from '../../contract/record-store.js';
import type { ResolvedRevokeOptions } from '../../contract/revoke.options.js';
import { zookeeper } from '../../index.js';
import { MemoryCoordination } from '../../memory/memory-coordination.js';
import { electionLine, MemoryElections } from '../../memory/memory-elections.js';
import { MemoryBackend } from '../../memory/memory.backend.js';
import { MemoryRecords } from '../../memory/memory-records.js';
import { isJobLockKey, jobLockKey, isAbsolute } from '../../service/service-names.js';
import type { ResolvedLockTestingOptions } from './lock-testing.options.js';
import { OtherContender } from './other-contender.js';
import type { OtherMode } from './other-contender.js';
import { OtherContenders } from './other-contenders.js';
import { reachable } from './reachable.js';
import { scriptedCoordination } from './scripted-coordination.js';
import { ScriptedElections } from './scripted-elections.js';

/** Locks in memory, under the conditions that a test scripts. */
export class ScriptedBackend extends MemoryBackend {
  override readonly name = 'testing';
  readonly #assertReachable = (): void => {
    if (!this.#isReachable) throw unavailable();
  };
  override readonly records: RecordStore = reachable(new MemoryRecords(), this.#assertReachable);
  override readonly permitCounts: PermitCounts = reachable(this.permits, this.#assertReachable);
  override readonly coordination: CoordinationBackend = scriptedCoordination(new MemoryCoordination(), {
    assertReachable: this.#assertReachable,
    own: (lease) => this.#own(lease),
  });
  override readonly elections = new ScriptedElections(
    new MemoryElections({
      identify: (name) => this.identify(name),
      standIn: (line, request) => this.standIn(line, request),
    }),
    {
      assertReachable: this.#assertReachable,
      nameOf: (key) => this.#withoutService(key),
      contend: (name) => this.#contendFor(name),
      isOther: (request) => this.#others.hasAsked(request),
    },
  );
  // Never connected. A test should not pass with a key that ZooKeeper would refuse.
  readonly #keys = zookeeper({ connectString: 'localhost:2181' }).create();
  readonly #owned = new Set<GrantedLease>();
  readonly #others: OtherContenders;
  #isReachable: boolean;
  #service: string | undefined;

  constructor({ mode, keys }: ResolvedLockTestingOptions) {
    super();
    this.#isReachable = mode !== 'unavailable';
    this.#others = new OtherContenders(this, mode === 'contended' ? keys : []);
    for (const key of keys ?? []) {
      this.contend(key, 'exclusive');
      this.contend(key, 'leader');
    }
  }

  /** Sets the service that names belong to. A test writes them like the application, without its service. */
  serve(service: string | undefined): void {
    this.#service = service;
  }

  override get state(): BackendState {
    return this.#isReachable ? 'connected' : 'suspended';
  }

  override identify(key: string): string {
    return this.#keys.identify(key);
  }

  override async connect(): Promise<void> {
    this.#assertReachable();
    await super.connect();
  }

  protected override async standIn(line: string, request: LockRequest): Promise<GrantedLease | null> {
    if (this.#others.hasAsked(request)) return super.standIn(line, request);
    request.signal.throwIfAborted();
    this.#assertReachable();
    if (this.isEmpty(line) && this.#others.want(nameOf(request))) this.#comeBefore(line, request);
    const lease = await super.standIn(line, request).catch((error: unknown) => {
      throw this.explain(error);
    });
    if (lease) this.#own(lease);
    return lease;
  }

  protected override lineFor(request: LockRequest): string {
    const { key } = request;
    return super.lineFor(isJobLockKey(key) ? { ...request, key: jobLockKey(nameOf(request)) } : request);
  }

  // While no server answers, only contenders outside the application are granted: other servers answer them.
  protected override mayGrant(request: LockRequest): boolean {
    return this.#isReachable || this.#others.hasAsked(request);
  }

  override async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    this.#assertReachable();
    await super.revoke(key, options);
    this.#others.stayAway(key);
  }

  override async lineOf(key: string): Promise<readonly Contender[]> {
    this.#assertReachable();
    const requests = this.contenders(key);
    const line = await super.lineOf(key);
    return line.map((contender, place) => (this.#others.hasAsked(requests[place]) ? asOther(contender) : contender));
  }

  explain(reason: unknown): unknown {
    return reason instanceof LockTimeoutError && !this.#isReachable ? unavailable(reason.key) : reason;
  }

  contend(key: string, mode: OtherMode): OtherContender {
    const other = new OtherContender(key, mode === 'leader' || mode === 'job' ? 'exclusive' : mode);
    if (mode === 'leader') return this.#campaign(other);
    const at = mode === 'job' && !isAbsolute(key) ? jobLockKey(key) : key;
    return this.#place(this.lineFor({ ...other.request, key: at, name: key }), other);
  }

  /** Makes all other contenders release the key without returning. Without a key, this applies to every key. */
  letGo(key?: string): Promise<void> {
    return this.#others.letGo(key);
  }

  setReachable(isReachable: boolean): void {
    if (isReachable === this.#isReachable) return;
    this.#isReachable = isReachable;
    for (const lease of this.#owned) {
      if (isReachable) lease.resume();
      else lease.suspend();
    }
    if (isReachable) this.changes.connected({});
    else this.changes.suspended('the test has the servers unavailable');
    this.grantTurns();
  }

  /** @returns whether the application had any leases on the key */
  loseLeases(key: string): boolean {
    const own = [...this.#owned].filter((lease) => this.#others.isOn(lease.key, key));
    for (const lease of own) lease.lose(new LockLostError(lease.key, 'the test has it lost'));
    for (const lease of own) void lease.release();
    return own.length > 0;
  }

  #own(lease: GrantedLease): void {
    this.#owned.add(lease);
    if (!this.#isReachable) lease.suspend();
    void lease.released.then(() => this.#owned.delete(lease));
  }

  /** Adds another contender that holds what the request asks for. */
  #comeBefore(line: string, request: LockRequest): void {
    const { permits } = request;
    const key = nameOf(request);
    if (line === electionLine(this.identify(key))) return void this.contend(key, 'leader');
    if (!permits) return void this.#place(line, new OtherContender(key, 'exclusive'));
    const all = { ...permits, count: this.permits.mostOf(key, permits.of) };
    this.#place(line, new OtherContender(key, 'permit', all));
  }

  #withoutService(key: string): string {
    const own = `${this.#service}/`;
    return key.startsWith(own) ? key.slice(own.length) : key;
  }

  async #contendFor(election: string): Promise<void> {
    const line = electionLine(this.identify(election));
    if (this.isEmpty(line) && this.#others.want(election)) await this.contend(election, 'leader').held;
  }

  #place(line: string, other: OtherContender): OtherContender {
    this.#others.add(other);
    other.enter((request) => this.standIn(line, request));
    return other;
  }

  #campaign(other: OtherContender): OtherContender {
    this.#others.add(other);
    other.enter(async (request) => (await this.elections.campaign(request))?.lease ?? null);
    return other;
  }
}

function asOther(contender: Contender): Contender {
  return { ...contender, owner: { ...contender.owner, host: 'elsewhere', pid: undefined }, isOwn: false };
}

function unavailable(key?: string): LockUnavailableError {
  return new LockUnavailableError('no server answers: the test has them unavailable', { key });
}
