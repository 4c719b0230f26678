import { onAbort } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import type { Deferred } from '../../../lib/async/deferred.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import { fencingTokenOf } from '../../../lib/contract/fencing-token.js';
import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

/** Whether others wait for a lease, as a test says it. */
export class ScriptedDemand {
  readonly #watchers = new Set<() => void>();
  /** What an answer waits for. */
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

/** One contender of the backend, and what a test can have happen to it. */
export class ScriptedEntry {
  readonly answer: Deferred<GrantedLease | null> = deferred();
  readonly demand = new ScriptedDemand();
  lease: GrantedLease | undefined;
  /** Whether the contender is gone: it left the line, or its lease was given back. */
  isGone = false;
  /** What others are told of whether the key is only kept. */
  readonly notes: boolean[] = [];
  /** What a release waits for. */
  givingBack: Promise<void> = Promise.resolve();

  constructor(
    readonly request: LockRequest,
    readonly number: number,
  ) {}

  get isAborted(): boolean {
    return this.request.signal.aborted;
  }

  /** Its turn has come. */
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

  /** The backend refuses. */
  refuse(error: unknown): void {
    this.isGone = true;
    this.answer.reject(error);
  }

  /** Somebody is ahead. */
  decline(): void {
    this.isGone = true;
    this.answer.resolve(null);
  }

  /** Its own end of the wait has been told, and it has left the line. */
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

  /** The contender that came last. */
  get last(): ScriptedEntry {
    return this.entries.at(-1) ?? missing();
  }

  /** Those that stand in line or hold. */
  get standing(): readonly ScriptedEntry[] {
    return this.entries.filter(({ isGone }) => !isGone);
  }
}

function missing(): never {
  throw new Error('nobody has asked the backend yet');
}
