import type { Grant, GrantedLease } from '../contract/granted-lease.js';

/**
 * What one caller of a tenure is granted. A class: an object literal with a getter costs more than everything else that
 * a hand-over in memory does.
 */
export class LocalGrant implements Grant {
  readonly #of: GrantedLease;

  /** @param of the lease of the tenure */
  constructor(
    of: GrantedLease,
    readonly key: string,
    readonly fencingToken: bigint,
    readonly giveBack: () => Promise<void>,
    readonly downgrade: () => Promise<void>,
  ) {
    this.#of = of;
  }

  get mode(): GrantedLease['mode'] {
    return this.#of.mode;
  }

  isCurrent(): boolean {
    return this.#of.isHeld();
  }
}
