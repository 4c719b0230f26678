import { onAbort } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import type { Deferred } from '../../../lib/async/deferred.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

/** Whether other contenders wait for a lease, set by the test. */
export class ScriptedDemand {
  readonly #watchers = new Set<() => void>();
  /** Delays the answers. */
  answering: Promise<void> = Promise.resolve();
  #isWanted = false;

  get watches(): number {
    return this.#watchers.size;
  }

  watch(onDemand: () => void, onNone: () => void): () => void {
    this.#watchers.add(onDemand);
    void this.answering.then(() => (this.#isWanted ? this.want() : onNone()));
    return () => this.#watchers.delete(onDemand);
  }

  want(): void {
    this.#isWanted = true;
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    watchers.forEach((onDemand) => onDemand());
  }
}

/** One contender of the backend, which a test can control. */
export class ScriptedEntry {
  readonly answer: Deferred<GrantedLease | null> = deferred();
  readonly demand = new ScriptedDemand();
  lease: GrantedLease | undefined;
  /** Whether the contender is gone: it left the queue, or its lease was given back. */
  isGone = false;
  /** The idle notes about a warm lease, in order. */
  readonly notes: boolean[] = [];
  /** Delays the release. */
  givingBack: Promise<void> = Promise.resolve();

  constructor(
    readonly request: LockRequest,
    readonly number: number,
  ) {}

  get isAborted(): boolean {
    return this.request.signal.aborted;
  }

  /** Grants the lease. */
  grant(isCurrent: () => boolean = () => true): GrantedLease {
    const { key, mode } = this.request;
    this.lease = new GrantedLease({
      key,
      mode,
      isCurrent,
      fencingToken: fencingTokenOf(BigInt(this.number)),
      demand: this.demand,
      noteKept: (isKept) => void this.notes.push(isKept),
      giveBack: async () => {
        await this.givingBack;
        this.isGone = true;
      },
    });
    this.answer.resolve(this.lease);
    return this.lease;
  }

  /** Rejects the request. */
  refuse(error: unknown): void {
    this.isGone = true;
    this.answer.reject(error);
  }

  /** Resolves the request with null, because another contender is ahead. */
  decline(): void {
    this.isGone = true;
    this.answer.resolve(null);
  }

  /** Removes the contender from the queue, once the end of its wait has been reported. */
  leave(): void {
    this.refuse(this.request.signal.reason);
  }

  lose(): void {
    this.lease?.lose(new LockLostError(this.request.key, 'the session is over'));
  }
}

/** A backend that grants, refuses, suspends and loses when a test says so. */
export class ScriptedBackend extends MemoryBackend {
  readonly entries: ScriptedEntry[] = [];
  /** Whether a contender whose wait has ended leaves at once, or when the test says so. */
  leavesAtOnce = true;

  override acquire(request: LockRequest): Promise<GrantedLease | null> {
    const entry = new ScriptedEntry(request, this.entries.length + 1);
    this.entries.push(entry);
    onAbort(request.signal, () => {
      if (this.leavesAtOnce && !entry.lease) entry.leave();
    });
    return entry.answer.promise;
  }

  /** The newest contender. */
  get last(): ScriptedEntry {
    return this.entries.at(-1) ?? missing();
  }

  /** The contenders that wait or hold. */
  get standing(): readonly ScriptedEntry[] {
    return this.entries.filter(({ isGone }) => !isGone);
  }
}

function missing(): never {
  throw new Error('nobody has asked the backend yet');
}
