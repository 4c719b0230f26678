import {
  checkOnLost,
  isOnContention,
  ON_CONTENTION,
  HOLDING_DEFAULTS,
  HOLDING_FIELDS,
  resolveHoldingOptions,
} from './contract/acquire.options.js';
import { check, checkFields, checkMs } from './contract/check.js';
import { LockConfigurationError } from './contract/errors.js';
import type { OnContention, HoldingOptions } from './contract/acquire.options.js';
import type { LockBackendDefinition } from './contract/lock-backend.js';
import { checkService } from './service/service-names.js';
import { resolveSharingOptions, SHARING_DEFAULTS, SHARING_FIELDS } from './service/lock-service.options.js';
import type { SharingOptions } from './service/lock-service.options.js';
import type { LockExceptionFilterOptions } from './transports/public-error.js';

/** The options of one connection. */
export interface LockModuleOptions extends SharingOptions, HoldingOptions {
  /** The backend that grants the leases: `zookeeper({ connectString: 'zk1:2181,zk2:2181,zk3:2181/app' })`. */
  readonly backend: LockBackendDefinition;
  /**
   * The service that this application is an instance of: letters, digits, `.`, `_` and `-`. Jobs, elections, queues,
   * barriers and shared values belong to it, and need it. Other services may use the same names for theirs. Keys of
   * locks, semaphores, segments and stock are shared by all services.
   */
  readonly service?: string | undefined;
  /** The time that an acquisition waits by default, in milliseconds. Default 10 000; `Infinity`: no limit. */
  readonly waitMs?: number | undefined;
  /** The time that `app.close()` lets holders finish before it ends their leases, in milliseconds. Default 10 000. */
  readonly drainTimeoutMs?: number | undefined;
  /**
   * The behaviour of the start without a connection.
   * - `'required'` (default): the application does not start.
   * - `'background'`: it starts, and grants locks as soon as a server answers. Until then acquisitions reject with
   *   `LockUnavailableError`.
   */
  readonly connectOnStart?: 'required' | 'background' | undefined;
  /**
   * Whether a warning is logged when nothing in the process, such as `app.enableShutdownHooks()`, listens for SIGTERM.
   * SIGTERM then leaves keys locked until their session ends. Default `true`.
   */
  readonly warnShutdownHooks?: boolean | undefined;
  /**
   * The behaviour of decorated methods that cannot acquire their lock, unless their decorator sets it; see
   * `onContention` there. The compiler cannot check that `'skip'`, or a function's result, fits each method.
   * `@CronLock` and `@LeaderOnly` have their own. Default `'throw'`.
   */
  readonly onContention?: OnContention | undefined;
  /**
   * The default behaviour of `using` and decorated methods when their lease was lost while they ran. They reject
   * (`'throw'`, the default), or return the result (`'ignore'`). `@CronLock` has its own.
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** Options of `forRoot` and of `forRootAsync` that must be known before the module is built. */
export interface LockModuleExtras {
  /** Whether every module of the application sees the services. Default `true`. */
  readonly isGlobal?: boolean | undefined;
  /** The connection's name, for applications with several. Default `'default'`. */
  readonly name?: string | undefined;
  /**
   * The form in which a `LockError` is answered to remote clients. `LockModule` registers `LockExceptionFilter` below
   * every filter of the application's own; with `false` it registers none. Of several connections only one sets it, for
   * the whole application.
   */
  readonly exceptionFilter?: false | LockExceptionFilterOptions | undefined;
}

export type ResolvedLockModuleOptions = Required<Omit<LockModuleOptions, 'service'>> & {
  readonly service: string | undefined;
};

export const DEFAULTS = Object.freeze({
  waitMs: 10_000,
  drainTimeoutMs: 10_000,
  connectOnStart: 'required',
  warnShutdownHooks: true,
  onContention: 'throw',
  onLost: 'throw',
  ...SHARING_DEFAULTS,
  ...HOLDING_DEFAULTS,
} as const);

const EXTRAS: readonly (keyof LockModuleExtras)[] = ['name', 'isGlobal', 'exceptionFilter'];

export const LOCK_MODULE_FIELDS = [
  'backend',
  'service',
  'waitMs',
  'drainTimeoutMs',
  'connectOnStart',
  'warnShutdownHooks',
  'onContention',
  'onLost',
  ...SHARING_FIELDS,
  ...HOLDING_FIELDS,
] as const;

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockModuleOptions(options: LockModuleOptions): ResolvedLockModuleOptions {
  refuseBackendAlone(options);
  refuseExtras(options);
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
  const { connectOnStart, warnShutdownHooks } = resolved;
  check(typeof warnShutdownHooks === 'boolean', 'warnShutdownHooks', warnShutdownHooks, 'true or false');
  check(
    connectOnStart === 'required' || connectOnStart === 'background',
    'connectOnStart',
    connectOnStart,
    "'required' or 'background'",
  );
  const { onContention, onLost } = resolved;
  check(isOnContention(onContention), 'onContention', onContention, ON_CONTENTION);
  checkOnLost(onLost);
  const sharing = resolveSharingOptions(resolved, SHARING_DEFAULTS);
  return { ...resolved, service, ...sharing, ...resolveHoldingOptions(resolved, HOLDING_DEFAULTS) };
}

/** Refuses options that must be known before the factory runs. */
function refuseExtras(options: unknown): void {
  const given = typeof options === 'object' && options !== null ? EXTRAS.filter((name) => name in options) : [];
  const [extra] = given;
  if (extra === undefined) return;
  throw new LockConfigurationError(
    `LockModule options: ${extra} stands beside useFactory in forRootAsync({…}), not in what the factory returns`,
  );
}

/** Refuses a backend alone: `useFactory` easily returns the backend itself instead of the options. */
function refuseBackendAlone(options: unknown): void {
  const isBackend = typeof options === 'object' && options !== null && 'create' in options;
  check(
    !isBackend,
    'LockModule options',
    options,
    'an object such as { backend: zookeeper({…}) }, not the backend alone',
  );
}

/** Removes fields that are `undefined`, so that they take their defaults like missing ones. */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
