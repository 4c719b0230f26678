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

// A list costs the servers and the wire about as much as this many single reads, and what its names add.
const NAMES_A_READ = 16;
const FEWEST_READS = 2;

/**
 * What one session knows of one line: who stood in it when it was listed last, and who was seen to leave since. Shared by
 * all contenders of the session, so what one of them has learned the others need not ask for.
 *
 * A contender that all before it have left has its turn without another look, with four exceptions, in which it looks:
 * the connection was lost since the line was listed (what fires with a reconnect comes in no order, and before the answer to
 * anything that is asked then; behind a new list, events are in order again), a writer of another process left (Curator's may
 * have made itself a reader with a number of its own, before the line), the event says something else than that a znode was
 * deleted, or the contender is not in the list.
 */
export class Line {
  readonly #session: Session;
  readonly #path: string;
  readonly #kind: LineKind;
  readonly #turn: LoopBudget;
  readonly #own = new StringMap<Member>();
  /** Those of them that are on their way out: their znodes may still be listed. */
  readonly #leaving = new StringMap<true>();
  /** When the next of this session come in. */
  readonly entryDelay = new CreateBatching();
  readonly #departures = new StringMap<DeletionWatch>();
  #names: readonly string[] | undefined;
  #lineup: WaitQueueSnapshot | undefined;
  #epoch = -1;

  /** @param turn how much this session has done in this turn of the event loop without the servers */
  constructor(session: Session, path: string, kind: LineKind, turn: LoopBudget) {
    this.#session = session;
    this.#path = path;
    this.#kind = kind;
    this.#turn = turn;
  }

  /** Whether nobody of this session stands in it. */
  get isEmpty(): boolean {
    return this.#own.size === 0;
  }

  /** A contender of this session has come in. */
  joined(contender: Member): void {
    this.#own.set(contender.name, contender);
    this.entryDelay.joined(contender.name);
  }

  /**
   * It will never hold again, and its deletion is on its way: contenders of this session behind it need not wait for that,
   * unless that were too many for one turn of the event loop. Contenders of other sessions do wait.
   */
  leaving(contender: Member): void {
    // First: whoever is let in by that is to share the transaction of the deletion.
    this.entryDelay.leaving(contender.name);
    if (this.#turn.isLong || this.#own.get(contender.name) !== contender) return;
    this.#turn.step();
    this.#leaving.set(contender.name, true);
    this.#gone(contender.name, 'left');
  }

  /** Its znode can not be deleted after all: whoever has not passed it by then stays behind it. */
  stays(contender: Member): void {
    if (this.#leaving.delete(contender.name)) this.#forget();
    this.entryDelay.leaving(contender.name);
  }

  /** It has gone out; or was found to be gone, and then somebody else may stand at the same path. */
  parted(contender: Member, how: 'left' | 'unknown'): void {
    if (this.#own.get(contender.name) !== contender) return;
    this.#gone(contender.name, how);
    this.#own.delete(contender.name);
    this.#leaving.delete(contender.name);
    this.entryDelay.leaving(contender.name);
  }

  /** A contender of this session goes on with another znode, which nobody has in a list yet. */
  moved(contender: Member, from: string): void {
    this.#own.set(contender.name, contender);
    this.entryDelay.joined(contender.name);
    this.#forget();
    this.#departures.get(from)?.over('left');
    this.#own.delete(from);
    this.entryDelay.leaving(from);
  }

  /** The line was listed. */
  saw(names: readonly string[]): void {
    if (names === this.#names) return;
    this.#names = names;
    this.#lineup = new WaitQueueSnapshot(names, this.#kind);
    this.#leaving.names.forEach((name) => this.#lineup?.left(name));
    this.#epoch = this.#session.epoch;
  }

  /** Whether what is known is good for this contender. */
  knows({ name }: Member): boolean {
    return this.#epoch === this.#session.epoch && this.#lineup !== undefined && this.#lineup.has(name);
  }

  /** Whom it is to watch, the nearest first; nobody when it has its turn. Only where what is known is good for it. */
  predecessors({ name }: Member): ContenderName[] {
    if (!this.#lineup) throw new Error(`the line of ${name} was not looked at`);
    return this.#lineup.predecessors(name);
  }

  /** Lists the line. @throws NodeDeletedError when the contender does not stand in it, `signal.reason` */
  async look(contender: Member, signal: AbortSignal): Promise<void> {
    const listed = this.#session.persistently(() => this.#session.requests.children(this.#path), signal);
    const names = await listed.catch(nobodyWithout);
    if (!names.includes(contender.name)) throw new NodeDeletedError(contender.path);
    this.saw(names);
  }

  /** Finds out which of those before the contender have left unseen: by a list, or one by one where that is less. */
  async refresh(contender: Member, signal: AbortSignal): Promise<void> {
    const most = Math.max(FEWEST_READS, Math.floor((this.#lineup?.inOrder.length ?? 0) / NAMES_A_READ));
    const ahead = this.#lineup?.ahead(contender.name, most + this.#departures.size + this.#own.size + 1) ?? [];
    const unseen = ahead.filter(({ name }) => !this.isAttended(name));
    if (unseen.length > most) return this.look(contender, signal);
    await Promise.all(unseen.map(({ name }) => this.#ask(name, signal)));
  }

  /** Whether it will be known when this one leaves. */
  isAttended(name: string): boolean {
    return this.#own.has(name) || this.#departures.has(name);
  }

  /** Calls back when `name` has left, or when nobody knows, or with the error because of which nobody can. */
  attend(name: string, listener: DeletionListener): Dispose {
    return (this.#departures.get(name) ?? this.#departureOf(name)).add(listener);
  }

  #departureOf(name: string): DeletionWatch {
    const isOwn = this.#own.has(name);
    const departure = new DeletionWatch(this.#session, `${this.#path}/${name}`, (how) => {
      this.#departures.delete(name);
      // One of this session's own says itself when it goes.
      if (isOwn) return;
      if (how === 'left') this.#left(name);
      if (how === 'unknown') this.#forget();
    });
    this.#departures.set(name, departure);
    if (!isOwn) departure.watch();
    return departure;
  }

  /** One of this session's own is. */
  #gone(name: string, how: 'left' | 'unknown'): void {
    if (how === 'left') this.#lineup?.left(name);
    else this.#forget();
    this.#departures.get(name)?.over(how);
  }

  /** Somebody else's contender is gone. */
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

/** Of each kind by path: they may stand under the same one, and then know nothing of each other. */
interface Lines extends Record<LineKind, StringMap<Line>> {
  readonly turn: LoopBudget;
}

const linesBySession = new WeakMap<Session, Lines>();

function emptyLines(): Lines {
  return { locks: new StringMap(), candidates: new StringMap(), turn: new LoopBudget() };
}

/** Lets a contender join its line in the directory, as this session knows it; it is forgotten when all have parted. */
export function joinLine(session: Session, path: string, contender: Member): Line {
  const lines = linesBySession.get(session) ?? emptyLines();
  linesBySession.set(session, lines);
  const kind = lineKindOf(contender.name);
  const line = lines[kind].get(path) ?? new Line(session, path, kind, lines.turn);
  lines[kind].set(path, line);
  line.joined(contender);
  return line;
}

/** The contender has gone out, or was found to be gone. */
export function partFromLine(session: Session, path: string, contender: Member, how: 'left' | 'unknown'): void {
  const lines = linesBySession.get(session)?.[lineKindOf(contender.name)];
  const line = lines?.get(path);
  line?.parted(contender, how);
  if (line?.isEmpty) lines?.delete(path);
}

/** How contenders of this kind come in there; `undefined` while nobody of the session stands in that line. */
export function entryDelayAt(session: Session, path: string, kind: ContenderKind): CreateBatching | undefined {
  return linesBySession.get(session)?.[lineOf(kind)].get(path)?.entryDelay;
}

/** Called once, with an error when the znode can not be watched. */
type DeletionListener = (error?: unknown) => void;

/** How waiting for a departure ends: the znode is gone; nobody knows; nobody may ask; nobody cares any more. */
type DeletionWatchEnd = 'left' | 'unknown' | 'refused' | 'let go';

/** That one contender leaves, for all of this session who wait for it: one watch, however many they are. */
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

  /** Disposing the last listener takes the watch back. */
  add(listener: DeletionListener): Dispose {
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end('let go');
    };
  }

  /** Has the servers say when it goes. */
  watch(): void {
    this.#session.requests.watch(this.#path).then(
      (watch) => this.#watched(watch),
      (error: unknown) => this.#unwatched(error),
    );
  }

  /** It has gone, as this process knows by itself. */
  over(how: 'left' | 'unknown'): void {
    this.#end(how);
  }

  #watched(watch: Watch): void {
    if (this.#isOver) return watch.remove();
    this.#watch = watch;
    void watch.fired.then((event) => {
      this.#watch = undefined;
      if (this.#isOver) return;
      // What fires with a reconnect comes in no order, and says nothing of who else has left: the line is listed first.
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
