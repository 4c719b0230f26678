/**
 * The directories of keys. Keys such as `order/81734` are used once, so their directories are created, and removed, at
 * little cost.
 *
 * New: a directory that this session has not seen is probably new. It is created with the first contender in it, by one
 * transaction, and needs no list. A wrong guess costs a round trip, so after several wrong ones in a row there are none
 * for a while.
 *
 * Idle: a directory that this session has created is removed when the session has not used it for a few seconds. The
 * servers remove empty containers as well, but only ten thousand a minute. They refuse to delete a directory that has
 * children, so no contender ever loses its place. Such a directory is tried again later. A process that finds its
 * directory removed creates it again. Directories of other clients stay: kazoo does not expect that they are removed.
 */
import { now } from '../../async/clock.js';
import { LinkedList, StringMap } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { after } from '../../async/timer.js';
import { ErrorCode, refusedAt } from '../session/requests.js';
import type { MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';

type DirectorySession = Pick<Session, 'signal'> & { readonly requests: Pick<Session['requests'], 'knows' | 'multi'> };

const MOST_WRONG_GUESSES = 3;
/** The number of unknown directories without a guess, after too many wrong ones. */
const WITHOUT_GUESS = 100;

const IDLE_MS = 3_000;
const SWEEP_MS = 500;
// After that, the directory is left to the servers.
const MOST_ATTEMPTS = 5;
// One transaction is one entry in the servers' logs. A larger one delays other requests.
const MOST_TOGETHER = 100;
const MOST_IN_A_SWEEP = 5_000;

interface Idle {
  readonly path: string;
  readonly since: number;
  /** The number of attempts to remove it before. */
  readonly attempts: number;
}

const directoriesBySession = new WeakMap<DirectorySession, KeyDirectories>();

export function keyDirectoriesOf(session: DirectorySession): KeyDirectories {
  const known = directoriesBySession.get(session);
  if (known) return known;
  const directories = new KeyDirectories(session);
  directoriesBySession.set(session, directories);
  return directories;
}

/** The knowledge of one session about the directories of keys. */
export class KeyDirectories {
  readonly #session: DirectorySession;
  #wrongGuesses = 0;
  #withoutGuess = 0;
  /** The directories that this session has created: `null` for those in use, and the places of idle ones. */
  readonly #places = new StringMap<Place<Idle> | null>();
  readonly #idle = new LinkedList<Idle>();
  #isTimed = false;

  constructor(session: DirectorySession) {
    this.#session = session;
  }

  /** Whether the directory is probably new. */
  mayBeNew(path: string): boolean {
    if (this.#session.requests.knows(path)) return false;
    if (this.#withoutGuess === 0) return true;
    this.#withoutGuess--;
    return false;
  }

  /** Called with the outcome of a guess. */
  was(isNew: boolean): void {
    this.#wrongGuesses = isNew ? 0 : this.#wrongGuesses + 1;
    if (this.#wrongGuesses < MOST_WRONG_GUESSES) return;
    this.#wrongGuesses = 0;
    this.#withoutGuess = WITHOUT_GUESS;
  }

  /** Called when this session has created the directory, with a contender in it. It is removed after its last use. */
  made(path: string): void {
    this.#places.get(path)?.leave();
    this.#places.set(path, null);
  }

  /** Called when this session has a contender in the directory. */
  use(path: string): void {
    if (this.#places.get(path)) this.made(path);
  }

  /** Called when the last contender of this session has left the directory. */
  leave(path: string): void {
    if (this.#places.get(path) === null) this.#isIdle(path, 0);
  }

  #isIdle(path: string, attempts: number): void {
    this.#places.set(path, this.#idle.join({ path, since: now(), attempts }));
    this.#time();
  }

  #time(): void {
    if (this.#isTimed || this.#idle.size === 0 || this.#session.signal.aborted) return;
    this.#isTimed = true;
    const sweep = () => {
      this.#isTimed = false;
      this.#sweep();
      this.#time();
    };
    after(SWEEP_MS, sweep, 'unref');
  }

  #sweep(): void {
    const due: Idle[] = [];
    for (let idle = this.#idle.first; idle && due.length < MOST_IN_A_SWEEP; idle = this.#idle.first) {
      if (now() - idle.since < IDLE_MS) break;
      this.#idle.shift();
      this.#places.delete(idle.path);
      due.push(idle);
    }
    for (let at = 0; at < due.length; at += MOST_TOGETHER) void this.#remove(due.slice(at, at + MOST_TOGETHER));
  }

  /** Removes the directories in one transaction, or one by one if one of them cannot be removed. */
  async #remove(due: readonly Idle[]): Promise<void> {
    const error = await this.#refusal(due);
    const [first] = due;
    if (error === undefined || !first) return;
    if (due.length > 1) return due.forEach((one) => void this.#remove([one]));
    if (error === ErrorCode.notEmpty) this.#tryLater(first);
  }

  #tryLater({ path, attempts }: Idle): void {
    const isKnown = this.#places.get(path) !== undefined;
    if (!isKnown && attempts + 1 < MOST_ATTEMPTS) this.#isIdle(path, attempts + 1);
  }

  /** The error of the directory that cannot be removed. `undefined` if all are removed, or it is not known. */
  async #refusal(directories: readonly Idle[]): Promise<number | undefined> {
    const ops = directories.map(({ path }): MultiOp => ({ type: 'delete', path }));
    const { results } = await this.#session.requests.multi(ops).catch(() => ({ results: [] }));
    return results[refusedAt(results)]?.error;
  }
}
