import { checkOnLost, HOLDING_DEFAULTS, resolveHoldingOptions } from '../contract/acquire.options.js';
import type { HoldingOptions, ResolvedAcquireOptions, ResolvedHoldingOptions } from '../contract/acquire.options.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Line, LockRequest } from '../contract/lock-request.js';
import type { HeldTarget } from './held.js';
import { resolveSharingOptions, SHARING_DEFAULTS } from './lock-service.options.js';
import type { LockServiceOptions, SharingOptions } from './lock-service.options.js';
import type { Holding } from './reentrant-hold.js';
import type { Keys, ServiceNames } from './service-names.js';

/** What locks of one connection are on, with what they say and what is said for all of them. */
export class LockTargets {
  /** What `using` does when the lease was lost, unless the call says. */
  readonly onLost: LockServiceOptions['onLost'];
  /** How long leases may be held, unless their lock says. */
  readonly holding: ResolvedHoldingOptions;
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #waitMs: number;
  readonly #sharing: Required<SharingOptions>;
  readonly #names: ServiceNames;

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

  /** @throws LockConfigurationError that names the wrong field */
  of(key: string, mode: LockTarget['mode'], line: Line, options: SharingOptions & HoldingOptions): LockTarget {
    const target = this.ofMember(key, mode, line, options);
    return { ...target, holding: this.holdingOf(options) };
  }

  /** One of a set, which is watched as a whole. @throws LockConfigurationError that names the wrong field */
  ofMember(key: string, mode: LockTarget['mode'], line: Line, sharing: SharingOptions): LockTarget {
    return this.#targetOf(key, this.#keys.identify(key), mode, line, sharing);
  }

  /** A part of a key that has been looked at. */
  ofPart(key: string): LockTarget {
    return this.#targetOf(key, this.#backend.identify(key), 'exclusive', 'fifo', {});
  }

  /** How long leases may be held. @throws LockConfigurationError that names the wrong field */
  holdingOf(options: HoldingOptions): ResolvedHoldingOptions {
    return resolveHoldingOptions(options, this.holding);
  }

  #targetOf(key: string, identity: string, mode: LockTarget['mode'], line: Line, sharing: SharingOptions): LockTarget {
    const waitMs = line === 'none' ? 0 : this.#waitMs;
    const shared = resolveSharingOptions(sharing, this.#sharing);
    return { scope: this.#backend, identity, key, mode, line, waitMs, onLost: this.onLost, ...shared };
  }

  /** The lock of a job of the service. @throws LockConfigurationError when the key is none, or no service is set */
  ofJob(key: string, line: Line, usedBy?: string): LockTarget {
    const at = this.#names.lockKeyOf({ kind: 'job', name: key, usedBy });
    const identity = this.#backend.identify(at);
    const waitMs = line === 'none' ? 0 : this.#waitMs;
    return { scope: this.#backend, identity, key, at, mode: 'exclusive', line, waitMs, ...this.#sharing };
  }
}

/** Which key a lock is on, how it is held and waited for, and how long its callers wait unless they say. */
export interface LockTarget extends Holding, HeldTarget {
  /** The key that the backend is asked for. Default: `key`. */
  readonly at?: string;
  readonly mode: LeaseMode;
  readonly line: Line;
  readonly waitMs: number;
  /** Whether callers of this process hand the key on among themselves. */
  readonly localLine: boolean;
  readonly keepMs: number;
  /** Whether a call may enter what it already holds, unless it says. Default `true`. */
  readonly reentrant?: boolean;
  /** Of several keys that are asked for in one step: each of them. */
  readonly members?: readonly LockTarget[];
  /** What `using` does when the lease was lost, unless the call says. Default `'throw'`. */
  readonly onLost?: ResolvedAcquireOptions['onLost'];
  /** How the backend is asked, where it is not for a lock. Goes without a local line. */
  readonly ask?: (request: LockRequest) => Promise<GrantedLease | null>;
}

/** Several keys that are asked for in one step, as one. */
export function setOf(targets: readonly [LockTarget, ...LockTarget[]]): LockTarget {
  return { ...targets[0], key: targets.map(({ key }) => key).join(', '), members: targets };
}
