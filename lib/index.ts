// The module.
export { LockModule } from './lock.module.js';
export type { LockModuleAsyncOptions } from './lock.module.js';
export type { LockModuleExtras, LockModuleOptions } from './lock.options.js';
export { getLockServiceToken, InjectLocks } from './lock.tokens.js';

// Backends.
export { zookeeper } from './zookeeper/zookeeper.backend.js';
export type { ZooKeeperAcl, ZooKeeperAuth, ZooKeeperOptions, ZooKeeperTls } from './zookeeper/zookeeper.options.js';

// What goes above a method.
export { DistributedLock } from './decorators/distributed-lock.decorator.js';
export { ReadLock, WriteLock } from './decorators/read-write-lock.decorator.js';
export type { ReadLockOptions, WriteLockOptions } from './decorators/read-write-lock.decorator.js';
export type { LockKey, LockKeys } from './decorators/lock-key.js';
export type { DistributedLockOptions, LockingOptions, OnContention } from './decorators/locking.options.js';
export type { LockDecorator } from './decorators/method-check.js';

// What code calls.
export { LockService } from './service/lock.service.js';
export type { MutexOptions } from './service/lock.service.js';
export { assertHeld, currentLease } from './service/held-leases.js';
export type { MultiLease } from './composite/multi-lease.js';
export type { MultiLock } from './composite/multi-lock.js';
export type { Lease, LeaseMode, LeaseState } from './contract/lease.js';
export type { AcquireOptions, Lock, ReadWriteLock, UsingOptions } from './contract/lock.js';

// What can go wrong.
export {
  LockConfigurationError,
  LockError,
  LockLostError,
  LockReentrancyError,
  LockRevokedError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from './contract/errors.js';
export type { LockErrorCode, LockErrorDetails } from './contract/errors.js';

// For authors of backends.
export { GrantedLease } from './contract/granted-lease.js';
export type { Grant } from './contract/granted-lease.js';
export type { BackendState, LockBackend, LockBackendDefinition } from './contract/lock-backend.js';
export type { Line, LockRequest } from './contract/lock-request.js';
