import { deferred } from '../../async/deferred.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest, PermitDemand } from '../../contract/lock-request.js';

/**
 * The purpose of a contender outside the application: to lock the key, to lead the election of that name, or to run the
 * job.
 */
export type OtherMode = 'exclusive' | 'read' | 'write' | 'leader' | 'job';

/** A contender outside the application, like a client of another process. */
export class OtherContender implements AsyncDisposable {
  /** The request for its lease. @internal */
  readonly request: LockRequest;
  readonly #leaving = new AbortController();
  readonly #held = deferred();
  #lease: GrantedLease | undefined;

  constructor(
    /** The key that it requests. */
    readonly key: string,
    /** The mode in which it requests the key. */
    readonly mode: LockRequest['mode'],
    permits?: PermitDemand,
  ) {
    const { signal } = this.#leaving;
    this.request = { key, mode, permits, line: 'fifo', wait: true, signal, label: 'somebody else' };
    this.#held.promise.catch(() => {});
  }

  /** Whether it holds the key. Otherwise it waits, or has released. */
  get isHolding(): boolean {
    return this.#lease?.isHeld() ?? false;
  }

  /** Resolves when it has acquired the key. Rejects when it has released before, or when the application was closed. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  /** @internal Queues at once. */
  enter(acquire: (request: LockRequest) => Promise<GrantedLease | null>): void {
    acquire(this.request).then((lease) => {
      this.#lease = lease ?? undefined;
      this.#held.resolve();
    }, this.#held.reject);
  }

  /** Releases the key, or leaves the wait queue. */
  async letGo(): Promise<void> {
    this.#leaving.abort(new Error(`somebody else does not want "${this.key}" any more`));
    await this.#held.promise.catch(() => {});
    await this.#lease?.release();
  }

  /** Releases the key or leaves the wait queue, like `letGo()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.letGo();
  }
}
