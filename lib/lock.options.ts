import { check, checkFields, checkMs } from './contract/check.js';
import type { LockBackendDefinition } from './contract/lock-backend.js';
import { checkService } from './service/service-names.js';
import { resolveSharingOptions, SHARING_DEFAULTS, SHARING_FIELDS } from './service/sharing.options.js';
import type { SharingOptions } from './service/sharing.options.js';

/** What one connection is made with. */
export interface LockModuleOptions extends SharingOptions {
  /** Who grants the leases: `zookeeper({ connectString: 'zk1:2181,zk2:2181,zk3:2181/app' })`. */
  readonly backend: LockBackendDefinition;
  /**
   * The service that this application is an instance of: letters, digits, `.`, `_` and `-`. Jobs, elections, queues,
   * barriers and shared values belong to it, and need it; other services may use the same names for theirs. Keys of locks,
   * semaphores, segments and stock are shared by all services.
   */
  readonly service?: string | undefined;
  /** How long an acquisition waits when it does not say, in milliseconds. Default 10 000; `Infinity`: no limit. */
  readonly waitMs?: number | undefined;
  /** How long `app.close()` lets holders finish before it ends their leases, in milliseconds. Default 10 000. */
  readonly drainTimeoutMs?: number | undefined;
  /**
   * `'required'` (default): the application does not start without a connection. `'background'`: it starts, and serves
   * locks as soon as a server answers; until then acquisitions reject with `LockUnavailableError`.
   */
  readonly connectOnStart?: 'required' | 'background' | undefined;
}

/** Options that must be known before the module is built, of `forRoot` and of `forRootAsync`. */
export interface LockModuleExtras {
  /** Whether every module of the application sees the services. Default `true`. */
  readonly isGlobal?: boolean | undefined;
  /** The connection's name, for applications with several. Default `'default'`. */
  readonly name?: string | undefined;
}

export type ResolvedLockModuleOptions = Required<Omit<LockModuleOptions, 'service'>> & {
  readonly service: string | undefined;
};

export const DEFAULTS = Object.freeze({
  waitMs: 10_000,
  drainTimeoutMs: 10_000,
  connectOnStart: 'required',
  ...SHARING_DEFAULTS,
} as const);

export const LOCK_MODULE_FIELDS = [
  'backend',
  'service',
  'waitMs',
  'drainTimeoutMs',
  'connectOnStart',
  ...SHARING_FIELDS,
] as const;

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockModuleOptions(options: LockModuleOptions): ResolvedLockModuleOptions {
  checkFields('LockModule options', options, LOCK_MODULE_FIELDS);
  const resolved = { ...DEFAULTS, ...withoutUndefined(options) };
  check(
    typeof resolved.backend?.create === 'function',
    'backend',
    resolved.backend,
    'a backend such as zookeeper({…})',
  );
  const { service } = resolved;
  if (service !== undefined) checkService(service);
  checkMs('waitMs', resolved.waitMs);
  checkMs('drainTimeoutMs', resolved.drainTimeoutMs);
  const { connectOnStart } = resolved;
  check(
    connectOnStart === 'required' || connectOnStart === 'background',
    'connectOnStart',
    connectOnStart,
    "'required' or 'background'",
  );
  return { ...resolved, service, ...resolveSharingOptions(resolved, SHARING_DEFAULTS) };
}

/** A field that is `undefined` takes its default, as one that is not there. */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
