import type { LockBackendDefinition } from '../../../lib/contract/lock-backend.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

/** The memory backend, with the moments that a test waits for and the counts that it checks. */
export class ObservedBackend extends MemoryBackend {
  readonly requests: LockRequest[] = [];
  connects = 0;
  closes = 0;
  readonly #watchers = new Set<() => void>();

  override async connect(): Promise<void> {
    this.connects++;
  }

  override acquire(request: LockRequest): Promise<GrantedLease | null> {
    const granted = super.acquire(request);
    this.requests.push(request);
    this.#tell();
    void granted.then(
      (lease) => (this.#tell(), lease?.released.then(() => this.#tell())),
      () => this.#tell(),
    );
    return granted;
  }

  override close(): Promise<void> {
    this.closes++;
    return super.close();
  }

  /** Resolves when the key has `count` contenders, holders included. */
  standing(key: string, count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.contenders(key).length !== count) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** The keys that were ever requested and still have a contender. */
  get busyKeys(): string[] {
    return [...new Set(this.requests.map(({ key }) => key))].filter((key) => this.contenders(key).length > 0);
  }

  #tell(): void {
    for (const look of this.#watchers) look();
  }
}

/** A backend definition, and every backend that was created from it. */
export function observed(): LockBackendDefinition & {
  readonly made: ObservedBackend[];
  readonly last: ObservedBackend;
} {
  const made: ObservedBackend[] = [];
  return {
    name: 'observed memory',
    made,
    get last(): ObservedBackend {
      const backend = made.at(-1);
      if (!backend) throw new Error('no application has made a backend yet');
      return backend;
    },
    create: () => {
      const backend = new ObservedBackend();
      made.push(backend);
      return backend;
    },
  };
}
