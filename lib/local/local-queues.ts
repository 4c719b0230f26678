import { StringMap } from '../async/collections.js';
import { LoopBudget } from '../async/timer.js';
import type { EventOrigin } from '../contract/channels.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest, LocalTarget, LockRequest } from '../contract/lock-request.js';
import { LocalQueue } from './local-queue.js';
import type { GrantingBackend } from './waiters.js';

/** The local queues of one backend, by key and mode. */
export class LocalQueues {
  readonly #backend: GrantingBackend;
  readonly #turn = new LoopBudget();
  readonly #origin: EventOrigin;
  readonly #queues = {
    exclusive: new StringMap<LocalQueue>(),
    read: new StringMap<LocalQueue>(),
    write: new StringMap<LocalQueue>(),
    permit: new StringMap<LocalQueue>(),
  };

  /** @param origin origin of the events of all queues */
  constructor(backend: GrantingBackend, origin: EventOrigin) {
    this.#backend = backend;
    this.#origin = origin;
  }

  /** Returns a lease at once, if this process has the key and no caller waits for it here. */
  takeNow(target: LocalTarget, label?: string): GrantedLease | undefined {
    return this.#queues[target.mode].get(target.identity)?.takeNow(target, label);
  }

  /**
   * Grants the lease. Only one caller of this process has a contender in the backend's wait queue. Returns `null` when
   * `request.wait` is false and the key is taken.
   */
  acquire(request: CallerRequest): Promise<GrantedLease | null> {
    const { mode, identity } = request.target;
    const queues = this.#queues[mode];
    let queue = queues.get(identity);
    if (!queue) {
      queue = new LocalQueue(this.#backend, this.#turn, this.#origin, (empty) => {
        if (queues.get(identity) === empty) queues.delete(identity);
      });
      queues.set(identity, queue);
    }
    return request.wait ? queue.wait(request) : queue.ask(request);
  }

  /** Returns the local queue of a key in one mode, if a caller of this process is in it. */
  find(mode: LockRequest['mode'], identity: string): LocalQueue | undefined {
    return this.#queues[mode].get(identity);
  }

  /** Releases all warm leases. */
  async giveUpKept(): Promise<void> {
    const queues = Object.values(this.#queues).flatMap((byKey) => byKey.values);
    await Promise.all(queues.map((queue) => queue.giveUpKept()));
  }
}
