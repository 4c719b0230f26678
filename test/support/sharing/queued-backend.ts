import { onAbort } from '../../../lib/async/abort.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { CallerRequest, GivingUpListener, LocalTarget, LockRequest } from '../../../lib/contract/lock-request.js';
import { LocalQueues } from '../../../lib/local/local-queues.js';
import { withLocalCallers } from '../../../lib/service/contenders.js';

/** The local queue as a backend around a backend. Requests that need no queue, and all else, go to the backend. */
export function queuedBackend(backend: LockBackend): LockBackend {
  const queues = new LocalQueues(backend, { connection: 'default', backend: backend.name });
  const own: Pick<LockBackend, 'acquire' | 'close' | 'lineOf'> = {
    acquire: (request) => {
      if (request.line === 'none' || request.permits) return backend.acquire(request);
      return queues.acquire(new QueuedRequest(request, backend.identify(request.key)));
    },
    lineOf: async (key) => {
      const identity = backend.identify(key);
      return withLocalCallers(await backend.lineOf(key), (mode) => queues.find(mode, identity));
    },
    close: async () => {
      await backend.close();
      await queues.giveUpKept();
    },
  };
  return new Proxy(backend, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A request whose end the local queue hears of. */
class QueuedRequest implements CallerRequest {
  readonly #request: LockRequest;
  readonly #unlisten: () => void;
  readonly target: LocalTarget;
  givenUp: { readonly reason: unknown } | undefined;
  onGivenUp: GivingUpListener | undefined = undefined;

  constructor(request: LockRequest, identity: string) {
    const { key: at, name: key = at, mode, line } = request;
    this.#request = request;
    this.target = { key, at, identity, mode, line, keepMs: 0 };
    this.#unlisten = onAbort(request.signal, (reason) => {
      this.givenUp = { reason };
      this.onGivenUp?.gaveUp(reason);
    });
  }

  get wait(): boolean {
    return this.#request.wait;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get label(): string | undefined {
    return this.#request.label;
  }

  settled(_lease?: GrantedLease): void {
    this.#unlisten();
  }
}
