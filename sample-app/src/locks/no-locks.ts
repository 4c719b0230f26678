import { GrantedLease } from 'nestjs-distributed-lock';
import type { BackendState, LockBackend, LockBackendDefinition, LockRequest } from 'nestjs-distributed-lock';

/** A backend that grants everybody everything at once: the same shop without locks, to see what they are for. */
class NoLocks implements LockBackend {
  readonly name = 'no locks';
  readonly state: BackendState = 'connected';

  identify(key: string): string {
    return key;
  }

  async connect(): Promise<void> {}

  async acquire({ key, mode }: LockRequest): Promise<GrantedLease> {
    return new GrantedLease({ key, mode, fencingToken: 0n, isCurrent: () => true, giveBack: async () => {} });
  }

  async close(): Promise<void> {}
}

export function noLocks(): LockBackendDefinition {
  return { name: 'no locks', create: () => new NoLocks() };
}
