import type { ShownHold, ShownKey, ShownOwner } from './answers.js';

const MOST_KEYS = 500;
const MOST_HOLDS = 40;

/** The holders of a key that a survey saw. There may be more than it lists. */
export type SeenHolders = Pick<ShownKey, 'holders' | 'holding'>;

interface Hold {
  readonly name: unknown;
  readonly owner: ShownOwner;
  readonly mode: string;
  readonly from: number;
  to: number | null;
  /** Whether a hold that excludes it has followed. A survey that still sees it is older than that. */
  isFollowed: boolean;
}

/**
 * The latest holds of each key. Those of this process are exact. Those of other processes are what surveys saw, so a hold
 * that began and ended between two surveys is missing.
 */
export class HoldTimeline {
  readonly #holds = new Map<string, Hold[]>();

  /** Returns the latest holds of the key, the earliest first. */
  of(key: string): readonly ShownHold[] {
    const holds = this.#holds.get(key) ?? [];
    return holds.map(({ owner, mode, from, to }) => ({ owner, mode, from, to }));
  }

  /** Notes that a hold began. @param name tells the hold from others of the key */
  began(key: string, name: unknown, hold: Omit<ShownHold, 'to'>): void {
    const holds = this.#holds.get(key) ?? [];
    // The next survey would be late to see that the one before has ended.
    for (const one of holds) {
      if (one.to === null && isForeign(one) && !areShared(one.mode, hold.mode)) {
        one.to = Math.max(one.from, hold.from);
        one.isFollowed = true;
      }
    }
    holds.push({ name, ...hold, to: null, isFollowed: false });
    // The key that changed last is last, so the first one is forgotten.
    this.#holds.delete(key);
    this.#holds.set(key, holds);
    const [oldest] = this.#holds.keys();
    if (this.#holds.size > MOST_KEYS && oldest !== undefined) this.#holds.delete(oldest);
    if (holds.length > MOST_HOLDS) holds.shift();
  }

  /** Notes that a hold has ended. */
  ended(key: string, name: unknown, at: number): void {
    const hold = this.#holds.get(key)?.find((one) => one.name === name && one.to === null);
    if (hold) hold.to = at;
  }

  /** Compares a key with the last survey: which holders of other processes have come and gone. */
  surveyed(key: string, { holders, holding }: SeenHolders, at: number): void {
    if (holding > holders.length) return;
    const foreign = new Map(
      holders.filter(({ isOwn }) => !isOwn).map((holder) => [JSON.stringify([holder.owner, holder.since]), holder]),
    );
    const holds = this.#holds.get(key) ?? [];
    const open = holds.filter((hold) => hold.to === null && isForeign(hold));
    const known = new Set(holds.filter(({ to, isFollowed }) => to === null || isFollowed).map(({ name }) => name));
    const own = holds.find((hold) => hold.to === null && !isForeign(hold));
    for (const [name, { owner, mode, since }] of foreign) {
      // The survey saw it before this process got the key.
      if (known.has(name) || (own && !areShared(own.mode, mode))) continue;
      this.began(key, name, { owner, mode, from: since ?? at });
    }
    for (const hold of open) if (!foreign.has(String(hold.name))) hold.to ??= at;
  }

  /** Ends the holds of other processes on keys that the last complete survey does not have any more. */
  missing(keys: ReadonlySet<string>, at: number): void {
    for (const [key, holds] of this.#holds) {
      if (keys.has(key)) continue;
      for (const hold of holds) if (hold.to === null && isForeign(hold)) hold.to = at;
    }
  }
}

/** Whether it is a hold of another process. Surveys name these by text. */
function isForeign({ name }: Hold): boolean {
  return typeof name === 'string';
}

/** Whether two holds of one key may be at the same time. A permit excludes nothing: a semaphore may have a lock's name. */
function areShared(one: string, other: string): boolean {
  return (one === 'read' && other === 'read') || one === 'permit' || other === 'permit';
}
