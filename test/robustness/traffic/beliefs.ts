import type { Lease } from '../../../lib/contract/lease.js';
import { sharedNow } from '../clock.js';
import type { AboutHold, Mode } from '../model/history.js';
import type { Journal } from './journal.js';

/** The intervals at which a process checks its leases, and at which it records the results, in milliseconds. */
export interface Pace {
  readonly lookEveryMs: number;
  readonly noteEveryMs: number;
}

const REAL_TIME: Pace = { lookEveryMs: 2, noteEveryMs: 20 };

/** A lease, or anything else that is held until it is lost. */
export type Believable = Pick<Lease, 'key' | 'fencingToken' | 'signal' | 'isHeld'>;

/** The way in which a holder observes its lease: it polls `isHeld()`, or it only listens to the signal. */
export type Watchfulness = 'asks' | 'listens';

/** One lease as its holder observes it. */
export class Belief {
  readonly #beliefs: Beliefs;
  #seenUntil: number;
  #isOver = false;

  constructor(
    beliefs: Beliefs,
    readonly id: string,
    readonly lease: Believable,
    readonly watchfulness: Watchfulness,
    from: number,
  ) {
    this.#beliefs = beliefs;
    this.#seenUntil = from;
    lease.signal.addEventListener('abort', this.#lost, { once: true });
  }

  get seenUntil(): number {
    return this.#seenUntil;
  }

  /** Reads the clock first: if the answer is yes, the lease was held at that time. */
  isHeld(): boolean {
    const at = sharedNow();
    if (!this.lease.isHeld()) return false;
    this.#seen(at);
    return true;
  }

  /**
   * @param lastLookAt the time of the previous look. A holder that only listens knows that nothing was due then: had
   * the signal been due, its timer would have run before this look.
   */
  look(lastLookAt: number): void {
    if (this.watchfulness === 'asks') this.isHeld();
    else if (!this.lease.signal.aborted) this.#seen(lastLookAt);
  }

  /** Called right before the lease is released. */
  end(): void {
    if (this.watchfulness === 'asks') this.isHeld();
    this.#over('released');
  }

  #seen(at: number): void {
    this.#seenUntil = Math.max(this.#seenUntil, at);
  }

  readonly #lost = (): void => this.#over('lost');

  #over(how: 'released' | 'lost'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.lease.signal.removeEventListener('abort', this.#lost);
    this.#beliefs.over(this, how);
  }
}

/** All leases that a process believes to hold. They are checked regularly while there are any. */
export class Beliefs {
  readonly #process: string;
  readonly #journal: Journal;
  readonly #pace: Pace;
  readonly #all = new Set<Belief>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #nextLook: NodeJS.Immediate | undefined;
  #lastLookAt = -Infinity;
  #notedAt = -Infinity;

  constructor(process: string, journal: Journal, pace = REAL_TIME) {
    this.#process = process;
    this.#journal = journal;
    this.#pace = pace;
  }

  /** Returns `undefined` when the lease is already lost, because there is no belief then. */
  begin(lease: Believable, mode: Mode, watchfulness: Watchfulness, about: AboutHold = {}): Belief | undefined {
    const from = sharedNow();
    if (!lease.isHeld()) return undefined;
    const id = `${this.#process}#${++this.#count}`;
    this.#journal.write({
      what: 'held',
      hold: id,
      at: from,
      key: lease.key,
      mode,
      token: String(lease.fencingToken),
      ...about,
    });
    const belief = new Belief(this, id, lease, watchfulness, from);
    this.#all.add(belief);
    this.#timer ??= setInterval(this.#tick, this.#pace.lookEveryMs);
    return belief;
  }

  over(belief: Belief, how: 'released' | 'lost'): void {
    this.#all.delete(belief);
    this.#journal.write({ what: 'ended', hold: belief.id, at: sharedNow(), seenUntil: belief.seenUntil, how });
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  // One look in a turn of the event loop, however many ticks were due: timers have to run between two looks.
  readonly #tick = (): void => void (this.#nextLook ??= setImmediate(() => this.#look()));

  #look(): void {
    this.#nextLook = undefined;
    const at = sharedNow();
    for (const belief of this.#all) belief.look(this.#lastLookAt);
    this.#lastLookAt = at;
    if (at - this.#notedAt < this.#pace.noteEveryMs || this.#all.size === 0) return;
    this.#notedAt = at;
    this.#journal.write({ what: 'seen', seen: [...this.#all].map(({ id, seenUntil }) => [id, seenUntil]) });
  }
}
