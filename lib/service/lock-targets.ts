import { checkOnLost, HOLDING_DEFAULTS, resolveHoldingOptions } from '../contract/acquire.options.js';
import type { HoldingOptions, ResolvedAcquireOptions, ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { LockKind } from '../contract/channels.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Line, LockRequest } from '../contract/lock-request.js';
import type { HeldTarget } from './hold-watch.js';
import { resolveMutexOptions, resolveSharingOptions, SHARING_DEFAULTS } from './lock-service.options.js';
import type { LockServiceOptions, MutexOptions, SharingOptions } from './lock-service.options.js';
import type { Holding } from './hold-scope.js';
import type { Keys, ServiceNames } from './service-names.js';

const NO_OPTIONS: MutexOptions = Object.freeze({});

/** Builds the targets of the locks of one connection from their own options and the module's. */
export class LockTargets {
  /** Default reaction of `using` when the lease was lost. */
  readonly onLost: LockServiceOptions['onLost'];
  /** Default limits on the holding time. */
  readonly holding: ResolvedHoldingOptions;
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #waitMs: number;
  readonly #sharing: Required<SharingOptions>;
  readonly #names: ServiceNames;
  readonly #settings = new WeakMap<MutexOptions, LockSettings>();

  /** @throws LockConfigurationError that names the wrong field */
  constructor(backend: LockBackend, keys: Keys, names: ServiceNames, options: LockServiceOptions) {
    this.#backend = backend;
    this.#keys = keys;
    this.#names = names;
    this.#waitMs = options.waitMs;
    this.#sharing = resolveSharingOptions(options, SHARING_DEFAULTS);
    this.holding = resolveHoldingOptions(options, HOLDING_DEFAULTS);
    if (options.onLost !== undefined) checkOnLost(options.onLost);
    this.onLost = options.onLost;
  }

  /**
   * Returns the target of a single lock. A decorator passes the same frozen options with each call, so they are resolved
   * once.
   * @throws LockConfigurationError that names the wrong field
   */
  of(key: string, mode: LockTarget['mode'], options: MutexOptions = NO_OPTIONS): LockTarget {
    const settings = this.#settings.get(options) ?? this.#resolve(options);
    return { scope: this.#backend, identity: this.#keys.identify(key), key, mode, ...settings };
  }

  /**
   * Returns the target of one member of a set, which is watched as a whole.
   * @throws LockConfigurationError that names the wrong field
   */
  ofMember(key: string, sharing: SharingOptions): LockTarget {
    return this.#targetOf('set', key, this.#keys.identify(key), sharing);
  }

  /** Returns the target of a segment of a key that was checked before. */
  ofPart(key: string): LockTarget {
    return this.#targetOf('segment', key, this.#backend.identify(key), {});
  }

  /** Returns the limits on the holding time. @throws LockConfigurationError that names the wrong field */
  holdingOf(options: HoldingOptions): ResolvedHoldingOptions {
    return resolveHoldingOptions(options, this.holding);
  }

  #resolve(options: MutexOptions): LockSettings {
    const { line, reentrant } = resolveMutexOptions(options);
    const waiting = this.#waitingAs(line, resolveSharingOptions(options, this.#sharing));
    const settings = { ...waiting, reentrant, onLost: this.onLost, holding: this.holdingOf(options) };
    if (Object.isFrozen(options)) this.#settings.set(options, settings);
    return settings;
  }

  #targetOf(kind: LockKind, key: string, identity: string, sharing: SharingOptions): LockTarget {
    const shared = resolveSharingOptions(sharing, this.#sharing);
    const { onLost } = this;
    return {
      scope: this.#backend,
      identity,
      key,
      kind,
      mode: 'exclusive',
      line: 'fifo',
      waitMs: this.#waitMs,
      onLost,
      ...shared,
    };
  }

  /**
   * Returns the lock target of a job of the service.
   * @throws LockConfigurationError when the key is invalid, or no service is set
   */
  ofJob(key: string, line: Line, usedBy?: string): LockTarget {
    const at = this.#names.lockKeyOf({ kind: 'job', name: key, usedBy });
    const identity = this.#backend.identify(at);
    // A process that kept a job's lock warm would only be in the way of the one that fires next.
    const waiting = this.#waitingAs(line, { ...this.#sharing, keepMs: 0 });
    return { scope: this.#backend, identity, key, at, kind: 'cron', mode: 'exclusive', ...waiting };
  }

  /** A contender that does not wait has no place in a local queue, which is what keeps a lease warm. */
  #waitingAs(line: Line, { localLine, keepMs }: Required<SharingOptions>) {
    if (line === 'none') return { line, waitMs: 0, localLine: false, keepMs: 0 };
    return { line, waitMs: this.#waitMs, localLine, keepMs };
  }
}

/** The target of a lock: its key, its mode, its waiting mode, and its default wait in milliseconds. */
export interface LockTarget extends Holding, HeldTarget {
  /** The key that the backend is asked for. Default: `key`. */
  readonly at?: string;
  /** The kind of lock, for observers. Default `'lock'`. */
  readonly kind?: LockKind;
  readonly mode: LeaseMode;
  readonly line: Line;
  readonly waitMs: number;
  /** Whether callers of this process hand the key over among themselves. Requires `line: 'fifo'`. */
  readonly localLine: boolean;
  readonly keepMs: number;
  /** Default for whether a call may re-enter a key that it already holds. Default `true`. */
  readonly reentrant?: boolean;
  /** The single targets, if several keys are requested in one step. */
  readonly members?: readonly LockTarget[];
  /** Default reaction of `using` when the lease was lost. Default `'throw'`. */
  readonly onLost?: ResolvedAcquireOptions['onLost'];
  /** The request to the backend, if it is not for a lock. Requires `localLine: false`. */
  readonly ask?: (request: LockRequest) => Promise<GrantedLease | null>;
}

/** The resolved options of a single lock. */
type LockSettings = Pick<LockTarget, 'line' | 'reentrant' | 'waitMs' | 'onLost' | 'localLine' | 'keepMs' | 'holding'>;

/** Returns one target for several keys that are requested in one step. */
export function setOf(targets: readonly [LockTarget, ...LockTarget[]]): LockTarget {
  return { ...targets[0], key: targets.map(({ key }) => key).join(', '), members: targets };
}
