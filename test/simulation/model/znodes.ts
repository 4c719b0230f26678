import type { Change } from '../../../lib/testing/embedded/tree/change.js';
import type { MadeZnode } from './contenders.js';

/** The ephemeral znodes of a run, from the transactions that the servers agreed on. */
export class Znodes {
  readonly #made: MadeZnode[] = [];
  #last = 0n;
  readonly #places = new Map<string, number>();

  /** @param atMs in true milliseconds */
  committed(zxid: bigint, atMs: number, changes: readonly Change[]): void {
    // Replicas that are behind receive earlier transactions again.
    if (zxid <= this.#last) return;
    this.#last = zxid;
    for (const change of changes) {
      if (change.type === 'create' && change.lifetime.kind === 'ephemeral') {
        const { path, lifetime } = change;
        this.#places.set(path, this.#made.length);
        this.#made.push({ path, czxid: zxid, session: lifetime.owner.toString(16), madeAt: atMs });
      } else if (change.type === 'delete') this.#gone(change.path, atMs);
    }
  }

  /** The servers have lost everything, and their zxids begin again. */
  lost(atMs: number): void {
    this.#last = 0n;
    for (const path of this.#places.keys()) this.#gone(path, atMs);
  }

  get made(): readonly MadeZnode[] {
    return this.#made;
  }

  #gone(path: string, atMs: number): void {
    const place = this.#places.get(path);
    const znode = place === undefined ? undefined : this.#made[place];
    if (place === undefined || znode === undefined) return;
    this.#made[place] = { ...znode, goneAt: atMs };
    this.#places.delete(path);
  }
}
