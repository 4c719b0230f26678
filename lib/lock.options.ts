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

/** What one connection is made with. */
export interface LockModuleOptions extends SharingOptions, HoldingOptions {
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
  /**
   * Whether a warning is logged when nothing in the process listens for SIGTERM, such as `app.enableShutdownHooks()`: then
   * SIGTERM leaves keys locked until their session ends. Default `true`.
   */
  readonly warnShutdownHooks?: boolean | undefined;
  /**
   * What decorated methods do that can not have their lock, unless their decorator says; see `onContention` there. The compiler
   * can not check that `'skip'`, or what a function returns, fits each method. `@CronLock` and `@LeaderOnly` have their own.
   * Default `'throw'`.
   */
  readonly onContention?: OnContention | undefined;
  /**
   * What `using` and decorated methods do, unless they say, when their lease was lost while they ran: reject (`'throw'`, the
   * default), or return the result (`'ignore'`). `@CronLock` has its own.
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** Options that must be known before the module is built, of `forRoot` and of `forRootAsync`. */
export interface LockModuleExtras {
  /** Whether every module of the application sees the services. Default `true`. */
  readonly isGlobal?: boolean | undefined;
  /** The connection's name, for applications with several. Default `'default'`. */
  readonly name?: string | undefined;
  /**
   * How a `LockError` is answered to remote clients. `LockModule` registers `LockExceptionFilter` below every filter of the
   * application's own; `false`: it registers none. Of several connections one says it, for the whole application.
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

/** What must be known before the factory runs. */
function refuseExtras(options: unknown): void {
  const given = typeof options === 'object' && options !== null ? EXTRAS.filter((name) => name in options) : [];
  const [extra] = given;
  if (extra === undefined) return;
  throw new LockConfigurationError(
    `LockModule options: ${extra} stands beside useFactory in forRootAsync({…}), not in what the factory returns`,
  );
}

/** What `useFactory` returns is easily the backend itself. */
function refuseBackendAlone(options: unknown): void {
  const isBackend = typeof options === 'object' && options !== null && 'create' in options;
  check(
    !isBackend,
    'LockModule options',
    options,
    'an object such as { backend: zookeeper({…}) }, not the backend alone',
  );
}

/** A field that is `undefined` takes its default, as one that is not there. */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
