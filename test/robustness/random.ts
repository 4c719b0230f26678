/** Random numbers that repeat for the same label. */
export class Random {
  #state: number;

  /** @param label the purpose of the numbers, and the run's seed: `17/links` */
  constructor(label: string) {
    this.#state = hashOf(label);
  }

  /** Returns a number from 0 to 1, without 1. (mulberry32) */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('nothing to pick from');
    return list[this.int(0, list.length - 1)] as T;
  }

  /** Returns one of the keys, with a probability by weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) if ((left -= weight) < 0) return key;
    throw new RangeError('nothing to pick from');
  }

  /** Returns `count` elements in random order. */
  sample<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    return Array.from({ length: Math.min(count, rest.length) }, () =>
      rest.splice(this.int(0, rest.length - 1), 1),
    ).flat();
  }
}

/** FNV-1a, mixed once more, so that similar labels give entirely different hashes. */
function hashOf(label: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(label)) hash = Math.imul(hash ^ byte, 0x01000193);
  return Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) | 0;
}
