/**
 * Who has the number right behind that of a contender of its own session which came in alone, and is gone, is alone, too:
 * whoever makes a znode in between, with whatever name, uses up a number. So whoever takes a key again and again need not
 * ask who else is there.
 *
 * Unless the directory was removed meanwhile and made again, with numbers from the beginning: so it is watched, from before
 * the first of the two came in. On one connection that event comes before anything is answered that happened later. What is
 * known ends with the connection.
 */
import { BoundedMap } from '../../async/collections.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';

// A watch stands at the servers for each, for as long as the directory does or the session is connected.
const MOST_WATCHED = 1_000;
// So often in a row one has to have followed another; where others come in between, to guess costs a round trip.
const LIKELY_AFTER = 3;

const successionsBySession = new WeakMap<Session, BoundedMap<SequenceFastPath>>();

/** What the session knows of the numbers in a directory. */
export function successionIn(session: Session, path: string): SequenceFastPath {
  const successions =
    successionsBySession.get(session) ?? new BoundedMap<SequenceFastPath>(MOST_WATCHED, (one) => one.forget());
  successionsBySession.set(session, successions);
  const succession = successions.get(path) ?? new SequenceFastPath(session, path);
  // Also one that is known: those go that were not asked for for longest.
  successions.set(path, succession);
  return succession;
}

/** While the directory is the same one for certain. */
interface Era {
  readonly epoch: number;
  readonly watch: Watch;
  isOver: boolean;
}

/** A contender that came in alone, had its turn and is gone. */
interface Gone {
  readonly number: number;
  /** Of its coming in. */
  readonly era: Era | undefined;
}

class SequenceFastPath {
  readonly #session: Session;
  readonly #path: string;
  #era: Era | undefined;
  #isAsking = false;
  #isForgotten = false;
  #last: Gone | undefined;
  /** How often one of this session has followed another one. */
  #followed = 0;

  constructor(session: Session, path: string) {
    this.#session = session;
    this.#path = path;
  }

  /** A contender of this session is about to come in. Of several at once, only the first may follow the one that is gone. */
  enter(): FastPathEntry {
    const last = this.#last;
    this.#last = undefined;
    return new FastPathEntry(this, this.#era, last);
  }

  /** @internal */
  isGood(era: Era): boolean {
    return !era.isOver && era.epoch === this.#session.epoch;
  }

  /** @internal Whether the next one of this session will follow the last one, as far as one can guess. */
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

  /** It is of no use to anybody any more. */
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

/** How one contender comes in. */
export class FastPathEntry {
  readonly #succession: SequenceFastPath;
  readonly #era: Era | undefined;
  readonly #last: Gone | undefined;

  constructor(succession: SequenceFastPath, era: Era | undefined, last: Gone | undefined) {
    this.#succession = succession;
    this.#era = era;
    this.#last = last;
  }

  /** Whether it is worth a try to go without a list. */
  get needsNoList(): boolean {
    return this.#succession.isLikely && this.isCovered;
  }

  /** Whether its number may show that it is alone. */
  get isCovered(): boolean {
    return this.#era !== undefined && this.#last?.era === this.#era && this.#succession.isGood(this.#era);
  }

  /** It has come in with this number. Whether it is alone for certain. */
  entered(number: number): boolean {
    const isNext = this.#last !== undefined && number === this.#last.number + 1;
    const isAlone = isNext && this.isCovered;
    this.#succession.entered(isNext);
    return isAlone;
  }

  /** It came in alone, had its turn, and is gone. */
  left(number: number): void {
    this.#succession.left({ number, era: this.#era });
  }
}
