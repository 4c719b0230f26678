import type { Link } from './link.js';

/** What travels on a connection: bytes, its end, or the news that the other side knows nothing of it. */
export type Segment = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'fin' | 'rst' };

/** Decides when what is under way arrives: the world by time; a search through all orders by choice. */
export interface Arrivals {
  readonly now: number;
  /** `arrive` hands over the oldest segment that is under way in the direction. */
  at(time: number, arrive: () => void, direction: Direction): void;
}

/** One way of a connection. What is sent arrives in order, later, and while the link holds it back, not at all. */
export class Direction {
  readonly from: string;
  readonly to: string;
  readonly #arrivals: Arrivals;
  readonly #link: Link;
  readonly #arrive: (segment: Segment) => void;
  /** Sent, and not arrived. */
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

  /** What arrives next; nothing, when nothing is under way. */
  get next(): Segment | undefined {
    return this.#underWay[0];
  }

  send(segment: Segment): void {
    if (this.#isCut) return;
    this.#underWay.push(segment);
    if (!this.#link.isHeld) this.#awaitArrival();
  }

  /** What was under way is lost, and so is all that is sent from now on. */
  cut(): void {
    this.#isCut = true;
    this.#underWay.length = 0;
    this.#generation++;
  }

  /** Nothing arrives until `released`; TCP sends it again then. */
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
