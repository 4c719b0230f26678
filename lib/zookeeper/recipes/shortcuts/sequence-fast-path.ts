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
import { BoundedMap } from '../../../async/collections.js';
import type { Watch } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

// The servers keep a watch for each, for as long as the directory exists or the session is connected.
const MOST_WATCHED = 1_000;
// The number of times in a row that contenders must have followed each other directly. Where others are created in
// between, a guess costs a round trip.
const LIKELY_AFTER = 3;

const fastPathsBySession = new WeakMap<Session, BoundedMap<SequenceFastPath>>();

/** The session's knowledge of the sequence numbers in a directory. */
export function sequenceFastPathIn(session: Session, path: string): SequenceFastPath {
  const fastPaths =
    fastPathsBySession.get(session) ?? new BoundedMap<SequenceFastPath>(MOST_WATCHED, (one) => one.forget());
  fastPathsBySession.set(session, fastPaths);
  const fastPath = fastPaths.get(path) ?? new SequenceFastPath(session, path);
  // A known one is set again, because the map drops the entries that were not asked for for longest.
  fastPaths.set(path, fastPath);
  return fastPath;
}

/** A period in which the directory is certainly the same one. */
interface Incarnation {
  readonly epoch: number;
  readonly watch: Watch;
  isOver: boolean;
}

/** A contender that was created alone, had its turn, and is deleted. */
interface Previous {
  readonly number: number;
  /** The period in which it was created. */
  readonly incarnation: Incarnation | undefined;
}

class SequenceFastPath {
  /** @internal Whether the next contender of this session will probably follow the last one directly. */
  isLikely = false;
  readonly #session: Session;
  readonly #path: string;
  #incarnation: Incarnation | undefined;
  #isAsking = false;
  #isForgotten = false;
  #last: Previous | undefined;
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
    return new FastPathEntry(this, this.#incarnation, last);
  }

  /** @internal */
  isGood(incarnation: Incarnation): boolean {
    return !incarnation.isOver && incarnation.epoch === this.#session.epoch;
  }

  /** @internal */
  entered(isNext: boolean): void {
    this.#followed = isNext ? this.#followed + 1 : 0;
    this.isLikely = this.#followed >= LIKELY_AFTER;
    if (this.#incarnation && !this.isGood(this.#incarnation)) this.#end();
    if (this.isLikely && !this.#incarnation) void this.#watch();
  }

  /** @internal */
  left(previous: Previous): void {
    this.#last = previous;
  }

  /** Called when this object is not used any more. Ends its watch. */
  forget(): void {
    this.#isForgotten = true;
    this.#end();
  }

  #end(): void {
    if (!this.#incarnation) return;
    this.#incarnation.isOver = true;
    this.#incarnation.watch.remove();
    this.#incarnation = undefined;
  }

  async #watch(): Promise<void> {
    if (this.#isAsking || this.#isForgotten) return;
    this.#isAsking = true;
    const { epoch } = this.#session;
    const asked = await this.#session.requests.watchExistence(this.#path).catch(() => undefined);
    this.#isAsking = false;
    if (!asked) return;
    if (this.#isForgotten) return asked.watch.remove();
    const incarnation: Incarnation = { epoch, watch: asked.watch, isOver: !asked.isThere };
    this.#incarnation = incarnation;
    void incarnation.watch.fired.then(() => {
      incarnation.isOver = true;
    });
  }
}

/** One contender's use of the shortcut. */
export class FastPathEntry {
  readonly #fastPath: SequenceFastPath;
  readonly #incarnation: Incarnation | undefined;
  readonly #last: Previous | undefined;

  constructor(fastPath: SequenceFastPath, incarnation: Incarnation | undefined, last: Previous | undefined) {
    this.#fastPath = fastPath;
    this.#incarnation = incarnation;
    this.#last = last;
  }

  /** Whether it is worth a try without a list. */
  get needsNoList(): boolean {
    return this.#fastPath.isLikely && this.isCovered;
  }

  /** Whether the contender's number may show that it is alone. */
  get isCovered(): boolean {
    return (
      this.#incarnation !== undefined &&
      this.#last?.incarnation === this.#incarnation &&
      this.#fastPath.isGood(this.#incarnation)
    );
  }

  /** Called with the number of the created contender. Returns whether it is certainly alone. */
  entered(number: number): boolean {
    const isNext = this.#last !== undefined && number === this.#last.number + 1;
    const isAlone = isNext && this.isCovered;
    this.#fastPath.entered(isNext);
    return isAlone;
  }

  /** Called when the contender was created alone, had its turn, and is deleted. */
  left(number: number): void {
    this.#fastPath.left({ number, incarnation: this.#incarnation });
  }
}
