import { randomUUID } from 'node:crypto';
import { withAnyAbort } from '../../async/abort.js';
import type { Cell, CellChange, CellWrite } from '../../contract/coordination-backend.js';
import { LockUnavailableError } from '../../contract/errors.js';
import { Contender } from '../recipes/contender.js';
import { createDirectory } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { wasNotApplied } from '../recipes/lost-transaction.js';
import type { SentTransaction } from '../recipes/lost-transaction.js';
import { CreateMode, ErrorCode, isConnectionLoss, KeeperError, refusedAt } from '../session/requests.js';
import type { MultiOp, MultiResult, Requests, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilFired, watching } from '../session/watch.js';

/** Returns the present value, which is no older than any write that ended before the call. */
export async function readCell(session: Session, path: string, signal: AbortSignal): Promise<Cell | undefined> {
  const look = () => Promise.all([session.requests.sync(path), cellAt(session.requests, path)]);
  const [, cell] = await session.persistently(look, signal);
  return cell;
}

/**
 * Resolves once the value differs from `seen`. Watches the znode even if it does not exist. An event is only a hint to
 * read again.
 * @throws KeeperError, SessionEndedError, `signal.reason`
 */
export async function nextCell(
  session: Session,
  path: string,
  seen: Cell | undefined,
  signal: AbortSignal,
): Promise<Cell | undefined> {
  const look = async (untilAbort: (watch: Watch) => Watch) => {
    const { watch } = await session.requests.watchExistence(path);
    return untilAbort(watch);
  };
  return withAnyAbort([signal, session.signal], async (limit) => {
    // Another session may use another server, which may be behind the value that was seen.
    await session.persistently(() => session.requests.sync(path), limit);
    for (;;) {
      const watch = await watching(session, look, limit);
      const cell = await session.persistently(() => cellAt(session.requests, path), limit).catch(without(watch));
      if (cell?.revision === seen?.revision) {
        await untilFired([watch], limit);
        continue;
      }
      watch.remove();
      return cell;
    }
  });
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

/** The place of a cell. */
export interface CellPlace {
  readonly path: string;
  /** The directory of the cell. */
  readonly directory: LockDirectory;
  /** The directory of the marks of unfinished writes. */
  readonly marks: LockDirectory;
}

/**
 * Returns the operation that makes the change. If no condition decides, `isThere` chooses between a create and a write.
 */
function changeOp({ path, directory }: CellPlace, { data, ifVersion }: CellChange, isThere: boolean): MultiOp {
  const version = typeof ifVersion === 'number' ? ifVersion : undefined;
  if (data === undefined) return { type: 'delete', path, version };
  if (!isThere) return { type: 'create', path, data, acl: directory.acl, flags: CreateMode.persistent };
  return { type: 'setData', path, data, version };
}

/**
 * Writes a shared value, with or without a condition on its version.
 * Znodes: the path itself, persistent. Its data is the value and nothing else. Each write creates a mark in the same
 * transaction, `<basePath>/%writes/<uuid>`, ephemeral. The mark is deleted after the reply.
 * Lost replies: after a `sync`, the mark shows whether the write was applied. Nothing else shows it: others may write
 * the same value from the same version.
 * Session loss: the value remains, and the marks are deleted. A write in doubt with a condition is repeated only if the
 * condition holds and zxids prove that the write was not applied. The version alone is no proof: the value may have
 * been deleted and created again with the same version. A write without a condition is not repeated, because others may
 * have written since. If the value is as wanted, it counts as written.
 * Source: ZooKeeper's conditional writes; the same znode as Curator's SharedCount and SharedValue.
 */

const EMPTY = Buffer.alloc(0);
const REFUSED: CellWrite = { isApplied: false };
// The deletion of a mark is not waited for.
const LEAVING_MS = 0;
// Each refusal shows whether the value exists. So this many attempts are reached only if others delete and create it
// continually.
const MOST_ATTEMPTS = 64;

type Outcome = CellWrite | 'again';

/** One write, through as many connections and sessions as it takes to find out its result. */
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

  /** Whether the write was sent and its result is unknown. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /**
   * Makes the write. Once sent it is not cut short by the signal, so that an aborted call leaves no mark.
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
      if (!isConnectionLoss(error)) {
        // A request that was refused, or never sent, was not applied.
        this.#isInDoubt = false;
        throw error;
      }
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

  /** Finds out after a lost reply, on the same session, whether the write was applied. */
  async #findOut(session: Session): Promise<Outcome> {
    const { path } = this.#place;
    const { requests } = session;
    // The server that is connected now may not have applied the write yet. After a sync it has, or never will.
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

  /**
   * Finds out with a later session whether the write in doubt was applied. The marks were deleted with the session that
   * sent it.
   */
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
  return new LockUnavailableError(`whether "${key}" was written cannot be known: ${why}`, { key });
}
