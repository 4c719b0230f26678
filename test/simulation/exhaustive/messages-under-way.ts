import type { Arrivals, Direction } from '../network/direction.js';
import type { World } from '../world/world.js';

interface UnderWay {
  readonly direction: Direction;
  /** Each hands over the oldest segment of the direction. */
  readonly arrivals: { readonly number: number; readonly arrive: () => void }[];
  /** Which one of the directions between two that is. */
  readonly ordinal: number;
  /** 0, or its place among those that were passed over. */
  passed: number;
}

/** A message that may arrive now. */
export interface Arrival {
  readonly direction: Direction;
  readonly ordinal: number;
  readonly isPassed: boolean;
}

/**
 * What has been sent and has not arrived, of all connections. A message takes no time: it arrives when it is chosen. By
 * default that is in the order in which they were sent, those last that were passed over.
 */
export class MessagesUnderWay implements Arrivals {
  readonly #world: World;
  readonly #all = new Map<Direction, UnderWay>();
  readonly #ordinals = new Map<string, number>();
  #numbers = 0;
  #passed = 0;

  constructor(world: World) {
    this.#world = world;
  }

  get now(): number {
    return this.#world.now;
  }

  at(_time: number, arrive: () => void, direction: Direction): void {
    let underWay = this.#all.get(direction);
    if (!underWay) {
      const name = `${direction.from}>${direction.to}`;
      const ordinal = (this.#ordinals.get(name) ?? 0) + 1;
      this.#ordinals.set(name, ordinal);
      this.#all.set(direction, (underWay = { direction, arrivals: [], ordinal, passed: 0 }));
    }
    underWay.arrivals.push({ number: this.#numbers++, arrive });
  }

  /** The oldest of each direction, in the default order. */
  enabled(): Arrival[] {
    return this.#enabled().map(({ direction, ordinal, passed }) => ({ direction, ordinal, isPassed: passed > 0 }));
  }

  /** Lets one of those that are enabled arrive; those before it are passed over. */
  arrive(place: number): void {
    const enabled = this.#enabled();
    const chosen = enabled[place];
    if (!chosen) throw new RangeError(`there are ${enabled.length} messages under way`);
    for (const before of enabled.slice(0, place)) before.passed ||= ++this.#passed;
    chosen.passed = 0;
    chosen.arrivals.shift()?.arrive();
  }

  #enabled(): UnderWay[] {
    const enabled: UnderWay[] = [];
    for (const one of this.#all.values()) {
      // What was cut is lost.
      if (!one.direction.next) one.arrivals.length = 0;
      else enabled.push(one);
    }
    return enabled.sort((a, b) => a.passed - b.passed || numberOf(a) - numberOf(b));
  }
}

function numberOf({ arrivals }: UnderWay): number {
  return arrivals[0]?.number ?? Infinity;
}
