import type { Arrivals, Direction } from '../network/direction.js';
import type { World } from '../world/world.js';

interface UnderWay {
  readonly direction: Direction;
  /** The arrivals of the direction's segments, the oldest first. */
  readonly arrivals: { readonly number: number; readonly arrive: () => void }[];
  /** A counter of the directions between the same two hosts. */
  readonly ordinal: number;
  /** 0, or the position among the directions that were passed over. */
  passed: number;
}

/** A message that may arrive now. */
export interface Arrival {
  readonly direction: Direction;
  readonly ordinal: number;
  readonly isPassed: boolean;
}

/**
 * The messages of all connections that were sent and have not arrived. A message takes no time: it arrives when it is
 * chosen. By default messages arrive in the order in which they were sent, and those that were passed over arrive last.
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

  /** The oldest message of each direction, in the default order. */
  enabled(): Arrival[] {
    return this.#enabled().map(({ direction, ordinal, passed }) => ({ direction, ordinal, isPassed: passed > 0 }));
  }

  /** Lets one of the enabled messages arrive. Those before it are passed over. */
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
      // The messages of a connection that was cut are lost.
      if (!one.direction.next) one.arrivals.length = 0;
      else enabled.push(one);
    }
    return enabled.sort((a, b) => a.passed - b.passed || numberOf(a) - numberOf(b));
  }
}

function numberOf({ arrivals }: UnderWay): number {
  return arrivals[0]?.number ?? Infinity;
}
