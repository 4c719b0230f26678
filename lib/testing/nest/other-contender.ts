import { deferred } from '../../async/deferred.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest, PermitDemand } from '../../contract/lock-request.js';

/** What somebody outside the application wants: a lock on the key, to lead the election of that name, or to run the job. */
export type OtherMode = 'exclusive' | 'read' | 'write' | 'leader' | 'job';

/** Somebody outside the application who stands on a key: as a client of another process would. */
export class OtherContender implements AsyncDisposable {
  /** What it asks for. @internal */
  readonly request: LockRequest;
  readonly #leaving = new AbortController();
  readonly #held = deferred();
  #lease: GrantedLease | undefined;

  constructor(
    readonly key: string,
    readonly mode: LockRequest['mode'],
    permits?: PermitDemand,
  ) {
    const { signal } = this.#leaving;
    this.request = { key, mode, permits, line: 'fifo', wait: true, signal, label: 'somebody else' };
    this.#held.promise.catch(() => {});
  }

  /** Whether it holds the key; otherwise it waits, or has let go. */
  get isHolding(): boolean {
    return this.#lease?.isHeld() ?? false;
  }

  /** Resolves when it has got the key. Rejects when it has let go before, or the application was closed. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  /** @internal Lines up at once. */
  enter(acquire: (request: LockRequest) => Promise<GrantedLease | null>): void {
    acquire(this.request).then((lease) => {
      this.#lease = lease ?? undefined;
      this.#held.resolve();
    }, this.#held.reject);
  }

  /** Gives the key back, or leaves the line. */
  async letGo(): Promise<void> {
    this.#leaving.abort(new Error(`somebody else does not want "${this.key}" any more`));
    await this.#held.promise.catch(() => {});
    await this.#lease?.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.letGo();
  }
}
