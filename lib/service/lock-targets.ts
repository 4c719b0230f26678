import { checkOnLost } from '../contract/acquire.options.js';
import { HOLDING_DEFAULTS, resolveHoldingOptions } from '../contract/holding.options.js';
import type { HoldingOptions, ResolvedHoldingOptions } from '../contract/holding.options.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Line } from '../contract/lock-request.js';
import type { Keys } from './keys.js';
import type { LockServiceOptions } from './lock-service.options.js';
import type { LockTarget } from './lock-target.js';
import type { ServiceNames } from './service-names.js';
import { resolveSharingOptions, SHARING_DEFAULTS } from './sharing.options.js';
import type { SharingOptions } from './sharing.options.js';

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
