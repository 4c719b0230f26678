import { onAbort, orAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import { LockShutdownError } from '../contract/errors.js';
import { GrantedLease } from '../contract/granted-lease.js';
import { nameOf } from '../contract/lock-request.js';
import type { LockRequest, PermitDemand } from '../contract/lock-request.js';

/** A contender in a wait queue. It holds a lease or waits for one. */
export interface MemoryContender {
  request: LockRequest;
  readonly granted: Deferred<GrantedLease>;
  readonly since: Date;
  lease: GrantedLease | undefined;
}

/** The functions of the backend that a wait queue needs. */
interface Surroundings {
  nextToken(): bigint;
  /** Returns the number of permits of a semaphore. */
  mostOf(key: string, of: PermitDemand['of']): number;
  /** Whether a contender whose turn it is may be granted. */
  mayGrant(request: LockRequest): boolean;
  /** Called when the wait queue has become empty. It is not used again. */
  onEmpty(): void;
}

/** The wait queue of one name: all contenders, holding or waiting, in the order of their requests. */
export class MemoryContenders {
  readonly #world: Surroundings;
  readonly #inOrder: MemoryContender[] = [];

  constructor(world: Surroundings) {
    this.#world = world;
  }

  get inOrder(): readonly MemoryContender[] {
    return this.#inOrder;
  }

  /**
   * Queues the request before the call returns. Resolves with `null` when the request would have to wait but must not.
   * @throws `request.signal.reason`
   */
  async stand(request: LockRequest): Promise<GrantedLease | null> {
    const contender: MemoryContender = { request, granted: deferred(), since: new Date(), lease: undefined };
    this.#inOrder.push(contender);
    this.grantTurns();
    if (!request.wait && !contender.lease) {
      this.leave(contender);
      return null;
    }
    return this.#untilGranted(contender);
  }

  /** Grants every contender whose turn it is. */
  grantTurns(): void {
    for (const [place, contender] of this.#inOrder.entries()) {
      if (contender.lease) continue;
      const isBlocked = this.#isBlocked(contender.request, this.#inOrder.slice(0, place));
      if (isBlocked || !this.#world.mayGrant(contender.request)) return;
      this.#grant(contender);
    }
  }

  leave(contender: MemoryContender): void {
    const place = this.#inOrder.indexOf(contender);
    if (place < 0) return;
    this.#inOrder.splice(place, 1);
    if (this.#inOrder.length === 0) this.#world.onEmpty();
    else this.grantTurns();
  }

  /** Ends every lease and every wait. */
  close(): void {
    for (const { request, granted, lease } of this.#inOrder.splice(0)) {
      granted.reject(new LockShutdownError(nameOf(request)));
      lease?.lose(new LockShutdownError(nameOf(request)));
    }
  }

  async #untilGranted(contender: MemoryContender): Promise<GrantedLease> {
    const dispose = onAbort(contender.request.signal, (reason) => {
      if (contender.lease) return;
      this.leave(contender);
      contender.granted.reject(reason);
    });
    return contender.granted.promise.finally(dispose);
  }

  #isBlocked({ key, mode, permits }: LockRequest, ahead: readonly MemoryContender[]): boolean {
    if (!permits) return mode === 'read' ? ahead.some((other) => other.request.mode !== 'read') : ahead.length > 0;
    const taken = ahead.reduce((sum, { request }) => sum + (request.permits?.count ?? 0), 0);
    return taken + permits.count > this.#world.mostOf(key, permits.of);
  }

  #grant(contender: MemoryContender): void {
    const key = nameOf(contender.request);
    contender.lease = new GrantedLease({
      key,
      get mode() {
        return contender.request.mode;
      },
      fencingToken: this.#world.nextToken(),
      isCurrent: () => true,
      giveBack: async () => this.leave(contender),
      downgrade: async () => this.#downgrade(contender),
    });
    contender.granted.resolve(contender.lease);
  }

  #downgrade(contender: MemoryContender): void {
    contender.request = { ...contender.request, mode: 'read' };
    this.grantTurns();
  }
}

/** Callers that each wait for a condition of their own. All conditions are checked whenever something has changed. */
export class MemoryCrowd {
  readonly #looks = new Set<() => void>();

  /** Resolves once `isSo()` is true. Rejects with `signal.reason`. */
  async until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const seen = deferred();
    const look = () => {
      if (isSo()) seen.resolve();
    };
    this.#looks.add(look);
    look();
    await orAbort(seen.promise, signal).finally(() => this.#looks.delete(look));
  }

  look(): void {
    this.#looks.forEach((look) => look());
  }
}
