import { randomUUID } from 'node:crypto';
import { anyAbort } from '../../async/abort.js';
import type { Cell, CellChange, CellWrite } from '../../contract/coordination-backend.js';
import { LockUnavailableError } from '../../contract/errors.js';
import { Contender } from '../recipes/contender.js';
import { createDirectory, refusedAt } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { wasNotApplied } from '../recipes/lost-transaction.js';
import type { SentTransaction } from '../recipes/lost-transaction.js';
import { CreateMode, ErrorCode, isConnectionLoss, KeeperError } from '../session/requests.js';
import type { MultiOp, MultiResult, Requests, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilFired, watching } from '../session/watch.js';

/** The value as it is: no older than what anybody had written before this was asked. */
export async function readCell(session: Session, path: string, signal: AbortSignal): Promise<Cell | undefined> {
  const look = () => Promise.all([session.requests.sync(path), cellAt(session.requests, path)]);
  const [, cell] = await session.persistently(look, signal);
  return cell;
}

/**
 * Resolves once the value is another than `seen`. Watches the znode, also where there is none; a wake-up is a hint.
 * @throws KeeperError, SessionEndedError, `signal.reason`
 */
export async function nextCell(
  session: Session,
  path: string,
  seen: Cell | undefined,
  signal: AbortSignal,
): Promise<Cell | undefined> {
  const limits = anyAbort([signal, session.signal]);
  const look = async (untilAbort: (watch: Watch) => Watch) => {
    const { watch } = await session.requests.watchExistence(path);
    return untilAbort(watch);
  };
  try {
    // With another session it may be another server, which is behind what was seen.
    await session.persistently(() => session.requests.sync(path), limits.signal);
    for (;;) {
      const watch = await watching(session, look, limits.signal);
      const cell = await session
        .persistently(() => cellAt(session.requests, path), limits.signal)
        .catch(without(watch));
      if (cell?.revision === seen?.revision) {
        await untilFired([watch], limits.signal);
        continue;
      }
      watch.remove();
      return cell;
    }
  } finally {
    limits.dispose();
  }
}

async function cellAt(requests: Requests, path: string): Promise<Cell | undefined> {
  const found = await unlessMissing(requests.read(path), undefined);
  return found && { data: found.data, version: found.stat.version, revision: found.stat.mzxid };
}

function without(watch: Watch): (error: unknown) => never {
  return (error) => {
    watch.remove();
    throw error;
  };
}

/** Where a cell is. */
export interface CellPlace {
  readonly path: string;
  /** What the cell is in. */
  readonly directory: LockDirectory;
  /** Where writes that are under way leave a mark. */
  readonly marks: LockDirectory;
}

/** The operation that makes the change; without a condition, what is thought to be there decides. */
function changeOp({ path, directory }: CellPlace, { data, ifVersion }: CellChange, isThere: boolean): MultiOp {
  const version = typeof ifVersion === 'number' ? ifVersion : undefined;
  if (data === undefined) return { type: 'delete', path, version };
  if (!isThere) return { type: 'create', path, data, acl: directory.acl, flags: CreateMode.persistent };
  return { type: 'setData', path, data, version };
}

/**
 * Writes a shared value, on condition of its version or without one.
 * Znodes: the path itself, persistent; its data is the value and nothing else. Each write makes a mark in the same
 * transaction, `<basePath>/%writes/<uuid>`, ephemeral, which is removed when the answer has come.
 * Lost replies: behind a `sync`, the mark tells whether the write was applied. Nothing else does: others may write the same
 * value from the same version.
 * Session loss: the value stays, and the marks are gone. A write in doubt is then made again only when it had a condition
 * that holds, and zxids tell that it was not applied: the value may have been removed and made anew with the same version.
 * Without a condition, others may have written since. What is there as it was wanted is as good as written.
 * Source: ZooKeeper's conditional writes; the same znode as Curator's SharedCount and SharedValue.
 */

const EMPTY = Buffer.alloc(0);
const REFUSED: CellWrite = { isApplied: false };
// How long nobody waits for a mark to be gone.
const LEAVING_MS = 0;
// Every refusal teaches something, unless others remove and make the value as fast as it is learned.
const MOST_ATTEMPTS = 64;

type Outcome = CellWrite | 'again';

/** One write, through as many connections and sessions as it takes to know what became of it. */
export class CellWriting {
  readonly #key: string;
  readonly #place: CellPlace;
  readonly #change: CellChange;
  readonly #mark: string;
  #isThere: boolean;
  #isInDoubt = false;
  #sent: SentTransaction = { ops: [], sentAfter: 0n };

  constructor(key: string, place: CellPlace, change: CellChange) {
    this.#key = key;
    this.#place = place;
    this.#change = change;
    this.#mark = `${place.marks.path}/${randomUUID()}`;
    this.#isThere = change.ifVersion !== 'absent';
  }

  /** Whether it was sent and nothing is known of it. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /**
   * Once it is sent it is not cut short by the signal: who gives up leaves no mark.
   * @throws KeeperError, SessionEndedError, LockUnavailableError, `signal.reason`
   */
  async on(session: Session, signal: AbortSignal): Promise<CellWrite> {
    const known = this.#isInDoubt ? await this.#lookFor(session, signal) : 'again';
    if (known !== 'again') return known;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      await session.whenConnected(signal);
      const outcome = await this.#attempt(session);
      if (outcome !== 'again') return outcome;
    }
    throw new KeeperError(ErrorCode.operationTimeout, this.#place.path);
  }

  async #attempt(session: Session): Promise<Outcome> {
    const { marks } = this.#place;
    const mark: MultiOp = {
      type: 'create',
      path: this.#mark,
      data: EMPTY,
      acl: marks.acl,
      flags: CreateMode.ephemeral,
    };
    const ops = [changeOp(this.#place, this.#change, this.#isThere), mark];
    this.#sent = { ops, sentAfter: session.requests.latestZxid };
    this.#isInDoubt = true;
    try {
      const { results, zxid } = await session.requests.multi(ops);
      this.#isInDoubt = false;
      const failed = refusedAt(results);
      if (failed >= 0) return await this.#refused(session, failed, results[failed]?.error ?? ErrorCode.noNode);
      this.#unmark(session, zxid);
      return { isApplied: true, version: this.#versionIn(results) };
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      return this.#isInDoubt ? session.surely(() => this.#findOut(session)) : 'again';
    }
  }

  async #refused(session: Session, failed: number, error: number): Promise<Outcome> {
    const { ifVersion, data } = this.#change;
    if (failed > 0) return this.#make(session, this.#place.marks, error);
    if (error === ErrorCode.badVersion) return REFUSED;
    if (error === ErrorCode.nodeExists && ifVersion === 'absent') return REFUSED;
    if (error !== ErrorCode.noNode && error !== ErrorCode.nodeExists) throw new KeeperError(error, this.#place.path);
    if (this.#isThere && typeof ifVersion === 'number') return REFUSED;
    if (data === undefined) return { isApplied: true, version: undefined };
    if (error === ErrorCode.noNode && !this.#isThere) return this.#make(session, this.#place.directory, error);
    this.#isThere = !this.#isThere;
    return 'again';
  }

  async #make(session: Session, directory: CellPlace['directory'], error: number): Promise<'again'> {
    if (error !== ErrorCode.noNode) throw new KeeperError(error, directory.path);
    await createDirectory(session.requests, directory);
    return 'again';
  }

  /** After a lost reply, on the same session. */
  async #findOut(session: Session): Promise<Outcome> {
    const { path } = this.#place;
    const { requests } = session;
    // The server now connected may not have heard of the write yet; after a sync it has, or never will.
    const [, mark, cell] = await Promise.all([
      requests.sync(path),
      unlessMissing(requests.read(this.#mark), undefined),
      unlessMissing(requests.read(path), undefined),
    ]);
    this.#isInDoubt = false;
    if (!mark) return 'again';
    this.#unmark(session, mark.stat.czxid);
    const isLatest = cell?.stat.mzxid === mark.stat.czxid;
    return { isApplied: true, version: isLatest ? cell?.stat.version : this.#versionIn([]) };
  }

  /** With another session than the one that the write in doubt was sent on, whose marks are gone. */
  async #lookFor(session: Session, signal: AbortSignal): Promise<Outcome> {
    const { ifVersion } = this.#change;
    const cell = await readCell(session, this.#place.path, signal);
    const isUndone = await session.persistently(() => wasNotApplied(session.requests, this.#sent), signal);
    this.#isInDoubt = false;
    if (ifVersion !== undefined && isUndone && (cell?.version ?? 'absent') === ifVersion) return 'again';
    if (ifVersion === undefined && this.#isWanted(cell)) return { isApplied: true, version: cell?.version };
    throw unknowable(this.#key);
  }

  #isWanted(cell: Cell | undefined): boolean {
    const { data } = this.#change;
    return data === undefined ? cell === undefined : cell?.data.equals(data) === true;
  }

  #versionIn([written]: readonly MultiResult[]): number | undefined {
    const { ifVersion, data } = this.#change;
    if (data === undefined) return undefined;
    if (written) return written.stat?.version ?? 0;
    return ifVersion === 'absent' ? 0 : ifVersion === undefined ? undefined : ifVersion + 1;
  }

  #unmark(session: Session, czxid: bigint): void {
    void new Contender(session, { path: this.#mark, czxid }).leave(LEAVING_MS);
  }
}

function unknowable(key: string): LockUnavailableError {
  const why = 'the session was lost before the answer, and what the value is now does not tell';
  return new LockUnavailableError(`whether "${key}" was written can not be known: ${why}`, { key });
}
