/**
 * A shortcut that makes the list of contenders unnecessary. Two conditions must hold:
 * - The contender's sequence number is exactly one more than that of its session's previous contender.
 * - The previous contender was alone in the queue and has been deleted.
 * Then nothing was created in between, because every create uses up a number, whatever the name. The contender is
 * alone, too. So a session that acquires a key again and again need not list the children.
 *
 * Exception: the directory was deleted meanwhile and created again, with numbers from the beginning. So it is watched,
 * from before the first of the two contenders was created. On one connection the event arrives before any reply about a
 * later state. The knowledge ends with the connection.
 */
import { BoundedMap } from '../../async/collections.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';

// The servers keep a watch for each, for as long as the directory exists or the session is connected.
const MOST_WATCHED = 1_000;
// The number of times in a row that contenders must have followed each other directly. Where others are created in
// between, a guess costs a round trip.
const LIKELY_AFTER = 3;

const successionsBySession = new WeakMap<Session, BoundedMap<SequenceFastPath>>();

/** The session's knowledge of the sequence numbers in a directory. */
export function successionIn(session: Session, path: string): SequenceFastPath {
  const successions =
    successionsBySession.get(session) ?? new BoundedMap<SequenceFastPath>(MOST_WATCHED, (one) => one.forget());
  successionsBySession.set(session, successions);
  const succession = successions.get(path) ?? new SequenceFastPath(session, path);
  // A known one is set again, because the map drops the entries that were not asked for for longest.
  successions.set(path, succession);
  return succession;
}

/** A period in which the directory is certainly the same one. */
interface Era {
  readonly epoch: number;
  readonly watch: Watch;
  isOver: boolean;
}

/** A contender that was created alone, had its turn, and is deleted. */
interface Gone {
  readonly number: number;
  /** The period in which it was created. */
  readonly era: Era | undefined;
}

class SequenceFastPath {
  readonly #session: Session;
  readonly #path: string;
  #era: Era | undefined;
  #isAsking = false;
  #isForgotten = false;
  #last: Gone | undefined;
  /** The number of times in a row that one contender of this session has directly followed another. */
  #followed = 0;

  constructor(session: Session, path: string) {
    this.#session = session;
    this.#path = path;
  }

  /**
   * Called before a contender of this session is created. Of several at once, only the first may follow the last one.
   */
  enter(): FastPathEntry {
    const last = this.#last;
    this.#last = undefined;
    return new FastPathEntry(this, this.#era, last);
  }

  /** @internal */
  isGood(era: Era): boolean {
    return !era.isOver && era.epoch === this.#session.epoch;
  }

  /** @internal Whether the next contender of this session will probably follow the last one directly. */
  get isLikely(): boolean {
    return this.#followed >= LIKELY_AFTER;
  }

  /** @internal */
  entered(isNext: boolean): void {
    this.#followed = isNext ? this.#followed + 1 : 0;
    if (this.#era && !this.isGood(this.#era)) this.#end();
    if (this.isLikely && !this.#era) void this.#watch();
  }

  /** @internal */
  left(gone: Gone): void {
    this.#last = gone;
  }

  /** Called when this object is not used any more. Ends its watch. */
  forget(): void {
    this.#isForgotten = true;
    this.#end();
  }

  #end(): void {
    if (!this.#era) return;
    this.#era.isOver = true;
    this.#era.watch.remove();
    this.#era = undefined;
  }

  async #watch(): Promise<void> {
    if (this.#isAsking || this.#isForgotten) return;
    this.#isAsking = true;
    const { epoch } = this.#session;
    const asked = await this.#session.requests.watchExistence(this.#path).catch(() => undefined);
    this.#isAsking = false;
    if (!asked) return;
    if (this.#isForgotten) return asked.watch.remove();
    const era: Era = { epoch, watch: asked.watch, isOver: !asked.isThere };
    this.#era = era;
    void era.watch.fired.then(() => {
      era.isOver = true;
    });
  }
}

/** One contender's use of the shortcut. */
export class FastPathEntry {
  readonly #succession: SequenceFastPath;
  readonly #era: Era | undefined;
  readonly #last: Gone | undefined;

  constructor(succession: SequenceFastPath, era: Era | undefined, last: Gone | undefined) {
    this.#succession = succession;
    this.#era = era;
    this.#last = last;
  }

  /** Whether it is worth a try without a list. */
  get needsNoList(): boolean {
    return this.#succession.isLikely && this.isCovered;
  }

  /** Whether the contender's number may show that it is alone. */
  get isCovered(): boolean {
    return this.#era !== undefined && this.#last?.era === this.#era && this.#succession.isGood(this.#era);
  }

  /** Called with the number of the created contender. Returns whether it is certainly alone. */
  entered(number: number): boolean {
    const isNext = this.#last !== undefined && number === this.#last.number + 1;
    const isAlone = isNext && this.isCovered;
    this.#succession.entered(isNext);
    return isAlone;
  }

  /** Called when the contender was created alone, had its turn, and is deleted. */
  left(number: number): void {
    this.#succession.left({ number, era: this.#era });
  }
}
