import type { Link } from './link.js';

/** A message on a connection: bytes, the end of the connection, or a reset because the other side does not know it. */
export type Segment = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'fin' | 'rst' };

/** Decides when messages arrive: the world by time, a search through all orders by choice. */
export interface Arrivals {
  readonly now: number;
  /** `arrive` delivers the oldest segment of the direction. */
  at(time: number, arrive: () => void, direction: Direction): void;
}

/** One direction of a connection. Segments arrive in order and later, and not at all while the link is held. */
export class Direction {
  readonly from: string;
  readonly to: string;
  readonly #arrivals: Arrivals;
  readonly #link: Link;
  readonly #arrive: (segment: Segment) => void;
  /** Segments that were sent and have not arrived. */
  readonly #underWay: Segment[] = [];
  #lastArrival = 0;
  #generation = 0;
  #isCut = false;

  constructor(
    arrivals: Arrivals,
    { from, to, link }: { readonly from: string; readonly to: string; readonly link: Link },
    arrive: (segment: Segment) => void,
  ) {
    this.from = from;
    this.to = to;
    this.#arrivals = arrivals;
    this.#link = link;
    this.#arrive = arrive;
  }

  /** The segment that arrives next; `undefined` if there is none. */
  get next(): Segment | undefined {
    return this.#underWay[0];
  }

  send(segment: Segment): void {
    if (this.#isCut) return;
    this.#underWay.push(segment);
    if (!this.#link.isHeld) this.#awaitArrival();
  }

  /** Drops everything under way, and everything that is sent from now on. */
  cut(): void {
    this.#isCut = true;
    this.#underWay.length = 0;
    this.#generation++;
  }

  /** Nothing arrives until `released`; TCP then sends it again. */
  held(): void {
    this.#generation++;
  }

  released(): void {
    for (let count = this.#underWay.length; count > 0; count--) this.#awaitArrival();
  }

  #awaitArrival(): void {
    const generation = this.#generation;
    this.#lastArrival = Math.max(this.#lastArrival, this.#arrivals.now + this.#link.drawDelayUs());
    const arrive = () => {
      if (generation !== this.#generation) return;
      const segment = this.#underWay.shift();
      if (segment) this.#arrive(segment);
    };
    this.#arrivals.at(this.#lastArrival, arrive, this);
  }
}
