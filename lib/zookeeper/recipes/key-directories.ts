/**
 * The directories of keys. Keys such as `order/81734` are used once, so their directories are created, and removed, at
 * little cost.
 *
 * New: a directory that this session has not seen is probably new. It is created with the first contender in it, by one
 * transaction, and needs no list. A wrong guess costs a round trip, so after several wrong ones in a row there are none
 * for a while.
 *
 * Idle: a directory is removed when this session has not used it for a few seconds, whether this session has created it
 * or found it empty. The servers remove empty containers as well, but only ten thousand a minute. They refuse to delete
 * a directory that has children, so no contender ever loses its place. A process that finds its directory removed creates
 * it again. Directories of other libraries stay: kazoo does not expect that they are removed. A mark in their data
 * tells them apart, because servers do not say whether a znode is a container.
 *
 * Above: the parents of removed directories, such as `order` of `order/81734`, are mostly used again. They are removed
 * after a minute without a removed child, or sooner when there are many of them.
 */
import { now } from '../../async/clock.js';
import { LinkedList, StringMap } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { after } from '../../async/timer.js';
import { ErrorCode, isConnectionLoss, isKeeperError, refusedAt } from '../session/requests.js';
import type { MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { REMOVABLE } from './lock-directory.js';

type DirectorySession = Pick<Session, 'signal'> & {
  readonly requests: Pick<Session['requests'], 'knows' | 'forget' | 'read' | 'multi'>;
};

const MOST_WRONG_GUESSES = 3;
/** The number of unknown directories without a guess, after too many wrong ones. */
const WITHOUT_GUESS = 100;

const IDLE_MS = 3_000;
const SWEEP_MS = 500;
// After that, the directory is left to the process that uses it, or to the servers.
const MOST_ATTEMPTS = 5;
// One transaction is one entry in the servers' logs. A larger one delays other requests.
const MOST_TOGETHER = 100;
const MOST_IN_A_SWEEP = 5_000;
const PARENT_IDLE_MS = 60_000;
const MOST_PARENTS = 100;
interface Idle {
  readonly path: string;
  readonly since: number;
  /** The number of attempts to remove it before. `undefined`: another client has created it, perhaps another library. */
  readonly attempts: number | undefined;
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
  /** `null` for the directories in use that this session has created, and the places of all idle ones. */
  readonly #places = new StringMap<Place<Idle> | null>();
  readonly #idle = new LinkedList<Idle>();
  /** The parents of removed directories. The one that had a child removed last is at the end. */
  readonly #parents = new LinkedList<Idle>();
  readonly #parentPlaces = new StringMap<Place<Idle>>();
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
  guessed(isNew: boolean): void {
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
    const place = this.#places.get(path);
    if (!place) return;
    if (place.member.attempts !== undefined) return this.made(path);
    place.leave();
    this.#places.delete(path);
  }

  /** Called when the last contender of this session has left the directory. */
  leave(path: string): void {
    const place = this.#places.get(path);
    if (!place) this.#isIdle(path, place === null ? 0 : undefined);
  }

  /** Removes now the directories that are idle, because the session is about to be closed. Never rejects. */
  async close(): Promise<void> {
    await this.#removeAll(this.#take(Infinity, () => true));
  }

  #isIdle(path: string, attempts: number | undefined): void {
    this.#places.set(path, this.#idle.join({ path, since: now(), attempts }));
    this.#time();
  }

  #time(): void {
    const isNothing = this.#idle.size === 0 && this.#parents.size === 0;
    if (this.#isTimed || isNothing || this.#session.signal.aborted) return;
    this.#isTimed = true;
    const sweep = () => {
      this.#isTimed = false;
      if (!this.#session.signal.aborted) this.#sweep();
      this.#time();
    };
    after(SWEEP_MS, sweep, 'unref');
  }

  #sweep(): void {
    void this.#removeAll(this.#take(MOST_IN_A_SWEEP, ({ since }) => now() - since >= IDLE_MS));
    const parents: Idle[] = [];
    for (let { first } = this.#parents; first; { first } = this.#parents) {
      if (this.#parents.size <= MOST_PARENTS && now() - first.since < PARENT_IDLE_MS) break;
      this.#parents.shift();
      this.#parentPlaces.delete(first.path);
      parents.push(first);
    }
    void this.#removeAll(parents);
  }

  /** Takes the first idle directories out of the list, as long as they are due. */
  #take(most: number, isDue: (idle: Idle) => boolean): Idle[] {
    const due: Idle[] = [];
    for (let { first } = this.#idle; first && due.length < most && isDue(first); { first } = this.#idle) {
      this.#idle.shift();
      this.#places.delete(first.path);
      due.push(first);
    }
    return due;
  }

  async #removeAll(due: readonly Idle[]): Promise<void> {
    if (due.length === 0) return;
    const batches = Array.from({ length: Math.ceil(due.length / MOST_TOGETHER) }, (_, at) =>
      due.slice(at * MOST_TOGETHER, (at + 1) * MOST_TOGETHER),
    );
    await Promise.all(batches.map((batch) => this.#removeEmpty(batch)));
  }

  /** Removes the directories in one transaction. Those of other clients are looked at before. */
  async #removeEmpty(due: readonly Idle[]): Promise<void> {
    const areEmpty = await Promise.all(due.map((idle) => this.#isRemovable(idle)));
    const removable = due.filter((_, at) => areEmpty[at]);
    if (removable.length > 0) await this.#remove(removable);
  }

  /** Whether this session has created the directory, or it is empty and this library has created it as a container. */
  async #isRemovable({ path, attempts }: Idle): Promise<boolean> {
    if (attempts !== undefined) return true;
    try {
      const { data, stat } = await this.#session.requests.read(path);
      return stat.numChildren === 0 && data.equals(REMOVABLE);
    } catch (error) {
      if (isKeeperError(error, 'noNode')) this.#session.requests.forget(path);
      return false;
    }
  }

  /** Removes the directories in one transaction, or one by one if one of them cannot be removed. */
  async #remove(due: readonly Idle[]): Promise<void> {
    const error = await this.#refusal(due);
    const [first] = due;
    if (!first) return;
    if (error === 'unknown') return due.forEach((one) => this.#again(one, one.attempts));
    if (error === undefined) return due.forEach(({ path }) => this.#hasLost(path.slice(0, path.lastIndexOf('/'))));
    if (due.length > 1) return void (await Promise.all(due.map((one) => this.#remove([one]))));
    if (error === ErrorCode.notEmpty && first.attempts !== undefined) this.#again(first, first.attempts + 1);
  }

  /** Called when a child of the directory was removed. */
  #hasLost(parent: string): void {
    if (parent === '') return;
    this.#parentPlaces.get(parent)?.leave();
    this.#parentPlaces.set(parent, this.#parents.join({ path: parent, since: now(), attempts: undefined }));
    this.#time();
  }

  #again({ path }: Idle, attempts: number | undefined): void {
    const isKnown = this.#places.get(path) !== undefined;
    if (!isKnown && (attempts ?? 0) < MOST_ATTEMPTS) this.#isIdle(path, attempts);
  }

  /** The error of the directory that cannot be removed. `undefined` if all are removed, `unknown` after a lost reply. */
  async #refusal(directories: readonly Idle[]): Promise<number | undefined | 'unknown'> {
    const ops = directories.map(({ path }): MultiOp => ({ type: 'delete', path }));
    try {
      const { results } = await this.#session.requests.multi(ops);
      return results[refusedAt(results)]?.error;
    } catch (error) {
      return isConnectionLoss(error) ? 'unknown' : ErrorCode.runtimeInconsistency;
    }
  }
}
