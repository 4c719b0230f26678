import type { Dispose } from '../../async/abort.js';
import { StringMap } from '../../async/collections.js';
import { LoopBudget } from '../../async/loop-turn.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { lineKindOf, lineOf, standingOf } from './contender-name.js';
import type { ContenderKind, LineKind, ContenderName } from './contender-name.js';
import { CreateBatching } from './create-batching.js';
import { NodeDeletedError } from './held-nodes.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

/** A contender of this session. */
interface Member {
  readonly name: string;
  readonly path: string;
}

// Listing costs the servers and the wire about as much as one read per `NAMES_A_READ` names, at least `FEWEST_READS`.
const NAMES_A_READ = 16;
const FEWEST_READS = 2;

/**
 * One session's view of one wait queue: the contenders of the last listing, less those that were seen to be deleted
 * since. All contenders of the session share it, so what one of them has found out is not requested again.
 *
 * When all contenders before it are deleted, a contender has its turn without a new listing. There are four exceptions,
 * in which the children are listed:
 * - The connection was lost since the last listing. Events that fire on a reconnect arrive in no order, and before the
 *   reply to anything that is requested then. After a new listing, events are in order again.
 * - A writer of another process left. Curator's may have become a reader with the writer's number, ahead of the queue.
 * - The event is not a deletion.
 * - The contender is not in the list.
 */
export class Line {
  readonly #session: Session;
  readonly #path: string;
  readonly #kind: LineKind;
  readonly #turn: LoopBudget;
  readonly #own = new StringMap<Member>();
  /** The own contenders whose deletion is under way. Their znodes may still be listed. */
  readonly #leaving = new StringMap<true>();
  /** Decides when the next contenders of this session are created. */
  readonly entryDelay = new CreateBatching();
  readonly #departures = new StringMap<DeletionWatch>();
  #names: readonly string[] | undefined;
  #lineup: WaitQueueSnapshot | undefined;
  #epoch = -1;

  /** @param turn the work that this session has done in this turn of the event loop without the servers */
  constructor(session: Session, path: string, kind: LineKind, turn: LoopBudget) {
    this.#session = session;
    this.#path = path;
    this.#kind = kind;
    this.#turn = turn;
  }

  /** Whether this session has no contender in the queue. */
  get isEmpty(): boolean {
    return this.#own.size === 0;
  }

  /** Adds a contender of this session. */
  joined(contender: Member): void {
    this.#own.set(contender.name, contender);
    this.entryDelay.joined(contender.name);
  }

  /**
   * Called when a contender will never hold again and its deletion is under way. Contenders of this session behind it
   * do not wait for the deletion, unless this turn of the event loop has done too much already. Contenders of other
   * sessions do wait.
   */
  leaving(contender: Member): void {
    // First, so that creates which this releases share the transaction of the deletion.
    this.entryDelay.leaving(contender.name);
    if (this.#turn.isLong || this.#own.get(contender.name) !== contender) return;
    this.#turn.step();
    this.#leaving.set(contender.name, true);
    this.#gone(contender.name, 'left');
  }

  /** Called when the znode cannot be deleted after all. Contenders that have not passed it by then wait behind it. */
  stays(contender: Member): void {
    if (this.#leaving.delete(contender.name)) this.#forget();
    this.entryDelay.leaving(contender.name);
  }

  /** Called when the contender was deleted, or was found to be gone. Then another znode may be at the same path. */
  parted(contender: Member, how: 'left' | 'unknown'): void {
    if (this.#own.get(contender.name) !== contender) return;
    this.#gone(contender.name, how);
    this.#own.delete(contender.name);
    this.#leaving.delete(contender.name);
    this.entryDelay.leaving(contender.name);
  }

  /** Called when a contender of this session continues with another znode, which is in no listing yet. */
  moved(contender: Member, from: string): void {
    this.#own.set(contender.name, contender);
    this.entryDelay.joined(contender.name);
    this.#forget();
    this.#departures.get(from)?.over('left');
    this.#own.delete(from);
    this.entryDelay.leaving(from);
  }

  /** Records a new listing of the children. */
  saw(names: readonly string[]): void {
    if (names === this.#names) return;
    this.#names = names;
    this.#lineup = new WaitQueueSnapshot(names, this.#kind);
    this.#leaving.names.forEach((name) => this.#lineup?.left(name));
    this.#epoch = this.#session.epoch;
  }

  /** Whether the view is valid for this contender. */
  knows({ name }: Member): boolean {
    return this.#epoch === this.#session.epoch && this.#lineup !== undefined && this.#lineup.has(name);
  }

  /** The contenders to watch, nearest first. Empty when it is this contender's turn. The view must be valid for it. */
  predecessors({ name }: Member): ContenderName[] {
    if (!this.#lineup) throw new Error(`the line of ${name} was not looked at`);
    return this.#lineup.predecessors(name);
  }

  /** Lists the children. @throws NodeDeletedError when the contender is not among them, `signal.reason` */
  async look(contender: Member, signal: AbortSignal): Promise<void> {
    const listed = this.#session.persistently(() => this.#session.requests.children(this.#path), signal);
    const names = await listed.catch(nobodyWithout);
    if (!names.includes(contender.name)) throw new NodeDeletedError(contender.path);
    this.saw(names);
  }

  /**
   * Finds out which contenders ahead were deleted without notice: by a listing, or by single reads where that is less.
   */
  async refresh(contender: Member, signal: AbortSignal): Promise<void> {
    const most = Math.max(FEWEST_READS, Math.floor((this.#lineup?.inOrder.length ?? 0) / NAMES_A_READ));
    const ahead = this.#lineup?.ahead(contender.name, most + this.#departures.size + this.#own.size + 1) ?? [];
    const unseen = ahead.filter(({ name }) => !this.isAttended(name));
    if (unseen.length > most) return this.look(contender, signal);
    await Promise.all(unseen.map(({ name }) => this.#ask(name, signal)));
  }

  /** Whether this contender's deletion will be noticed. */
  isAttended(name: string): boolean {
    return this.#own.has(name) || this.#departures.has(name);
  }

  /** Calls back when `name` is deleted, when that is no longer known, or with the error that prevents knowing it. */
  attend(name: string, listener: DeletionListener): Dispose {
    return (this.#departures.get(name) ?? this.#departureOf(name)).add(listener);
  }

  #departureOf(name: string): DeletionWatch {
    const isOwn = this.#own.has(name);
    const departure = new DeletionWatch(this.#session, `${this.#path}/${name}`, (how) => {
      this.#departures.delete(name);
      // A contender of this session reports its own deletion.
      if (isOwn) return;
      if (how === 'left') this.#left(name);
      if (how === 'unknown') this.#forget();
    });
    this.#departures.set(name, departure);
    if (!isOwn) departure.watch();
    return departure;
  }

  /** A contender of this session is gone. */
  #gone(name: string, how: 'left' | 'unknown'): void {
    if (how === 'left') this.#lineup?.left(name);
    else this.#forget();
    this.#departures.get(name)?.over(how);
  }

  /** A contender of another session is deleted. */
  #left(name: string): void {
    if (standingOf(name)?.kind === 'write') this.#forget();
    else this.#lineup?.left(name);
  }

  #forget(): void {
    this.#lineup = undefined;
    this.#names = undefined;
  }

  async #ask(name: string, signal: AbortSignal): Promise<void> {
    const asked = this.#session.persistently(() => this.#session.requests.read(`${this.#path}/${name}`), signal);
    await asked.catch((error: unknown) => {
      if (!isKeeperError(error, 'noNode')) throw error;
      this.#left(name);
    });
  }
}

function nobodyWithout(error: unknown): readonly string[] {
  if (isKeeperError(error, 'noNode')) return [];
  throw error;
}

/** A session's views by kind and path. Wait queues of different kinds may have the same path, and are independent. */
interface Lines extends Record<LineKind, StringMap<Line>> {
  readonly turn: LoopBudget;
}

const linesBySession = new WeakMap<Session, Lines>();

function emptyLines(): Lines {
  return { locks: new StringMap(), candidates: new StringMap(), turn: new LoopBudget() };
}

/**
 * Adds a contender to its session's view of the wait queue, and returns the view. It is dropped when the session's last
 * contender has left.
 */
export function joinLine(session: Session, path: string, contender: Member): Line {
  const lines = linesBySession.get(session) ?? emptyLines();
  linesBySession.set(session, lines);
  const kind = lineKindOf(contender.name);
  const line = lines[kind].get(path) ?? new Line(session, path, kind, lines.turn);
  lines[kind].set(path, line);
  line.joined(contender);
  return line;
}

/** Removes a contender that was deleted, or was found to be gone. */
export function partFromLine(session: Session, path: string, contender: Member, how: 'left' | 'unknown'): void {
  const lines = linesBySession.get(session)?.[lineKindOf(contender.name)];
  const line = lines?.get(path);
  line?.parted(contender, how);
  if (line?.isEmpty) lines?.delete(path);
}

/** The batching of creates for this kind of contenders. `undefined` while the session has none in that queue. */
export function entryDelayAt(session: Session, path: string, kind: ContenderKind): CreateBatching | undefined {
  return linesBySession.get(session)?.[lineOf(kind)].get(path)?.entryDelay;
}

/** A callback that is called once, with an error when the znode cannot be watched. */
type DeletionListener = (error?: unknown) => void;

/**
 * The ways in which a `DeletionWatch` ends:
 * - `left`: the znode is deleted.
 * - `unknown`: nothing is known about it any more.
 * - `refused`: it may not be watched.
 * - `let go`: no listener is left.
 */
type DeletionWatchEnd = 'left' | 'unknown' | 'refused' | 'let go';

/** One watch for all contenders of this session that wait for one contender to be deleted. */
class DeletionWatch {
  readonly #session: Session;
  readonly #path: string;
  readonly #onEnd: (how: DeletionWatchEnd) => void;
  readonly #listeners = new Set<DeletionListener>();
  #watch: Watch | undefined;
  #isOver = false;

  constructor(session: Session, path: string, onEnd: (how: DeletionWatchEnd) => void) {
    this.#session = session;
    this.#path = path;
    this.#onEnd = onEnd;
  }

  /** Adds a listener. Disposing the last listener removes the watch. */
  add(listener: DeletionListener): Dispose {
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end('let go');
    };
  }

  /** Sets the watch at the servers. */
  watch(): void {
    this.#session.requests.watch(this.#path).then(
      (watch) => this.#watched(watch),
      (error: unknown) => this.#unwatched(error),
    );
  }

  /** Ends the watch, because this process knows the outcome by itself. */
  over(how: 'left' | 'unknown'): void {
    this.#end(how);
  }

  #watched(watch: Watch): void {
    if (this.#isOver) return watch.remove();
    this.#watch = watch;
    void watch.fired.then((event) => {
      this.#watch = undefined;
      if (this.#isOver) return;
      // Events that fire on a reconnect are in no order, and say nothing about other contenders: the children are
      // listed first.
      if (event === 'deleted') this.#end('left');
      else if (event === 'changed') this.watch();
      else this.#end('unknown');
    });
  }

  #unwatched(error: unknown): void {
    if (isKeeperError(error, 'noNode')) this.#end('left');
    else if (isConnectionLoss(error)) this.#end('unknown');
    else this.#end('refused', error);
  }

  #end(how: DeletionWatchEnd, error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch?.remove();
    this.#onEnd(how);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    listeners.forEach((listener) => listener(error));
  }
}
