import { now } from '../async/clock.js';
import { channels } from '../contract/channels.js';
import type { EventOrigin, LocalEndEvent } from '../contract/channels.js';

/**
 * The use of one shared lease by the callers of this process, for `local.end`. It exists only if that channel has a
 * subscriber when the lease begins.
 */
export class LocalUse {
  readonly #since = now();
  #blockedMs = 0;
  /** The reason for the end, if there is one besides that no caller needs the lease. */
  #why: LocalEndEvent['why'] = 'idle';

  /** Adds the time of one holder, for each caller that has waited for it. */
  blocked(heldMs: number, waitingCallers: number): void {
    this.#blockedMs += heldMs * waitingCallers;
  }

  /** Sets the reason why the lease ends. The first reason counts, unless the lease is lost after it. */
  endsAs(why: LocalEndEvent['why']): void {
    if (this.#why === 'idle' || why === 'lost') this.#why = why;
  }

  /** Publishes the end. */
  ended(origin: EventOrigin, lease: Pick<LocalEndEvent, 'key' | 'mode'>, grants: number): void {
    if (!channels.localEnd.hasSubscribers) return;
    channels.localEnd.publish({
      connection: origin.connection,
      origin,
      key: lease.key,
      mode: lease.mode,
      handOvers: Math.max(0, grants - 1),
      heldMs: now() - this.#since,
      blockedMs: this.#blockedMs,
      why: this.#why,
    });
  }
}
