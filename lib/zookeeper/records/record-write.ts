/**
 * Records on ZooKeeper: conditional writes of several persistent znodes in one transaction.
 * Znodes: `<basePath>/%records/<name>`, see `record-node.ts`. The parents are persistent, too: a directory may become a
 * record, and the servers remove a container with its data.
 * The first attempt guesses which znodes exist. When it is refused, the records are read. Either one is not as
 * expected, or the next attempt knows their state.
 * Lost replies: after a sync the records show that the write was applied (`tracesOf`), or zxids show that it was not
 * (`lost-transaction.ts`). Only then is it repeated, or reported as refused. A write that changes no record under a
 * condition is repeated in any case.
 * Session loss: records outlive sessions. The write continues with the next one.
 * Source: ZooKeeper's multi with version checks.
 */
import { randomUUID } from 'node:crypto';
import { orAbort } from '../../async/abort.js';
import { LockUnavailableError } from '../../contract/errors.js';
import type { RecordChange, RecordWrite, StoredRecord } from '../../contract/record-store.js';
import { missingParents } from '../recipes/create-node.js';
import { wasNotApplied } from '../recipes/lost-transaction.js';
import type { SentTransaction } from '../recipes/lost-transaction.js';
import { ErrorCode, isConnectionLoss, isKeeperError, KeeperError, refusedAt } from '../session/requests.js';
import type { Acl, MultiOp, MultiResult, Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { lookAt } from './record-node.js';
import { isAsExpected, mayCreate, RecordTransaction } from './record-ops.js';
import type { PlacedChange } from './record-ops.js';

// Refusals that show that a znode was not in the assumed state.
const MISTAKEN: readonly number[] = [ErrorCode.noNode, ErrorCode.nodeExists, ErrorCode.badVersion, ErrorCode.notEmpty];

// Every refusal shows something new, unless other clients write as fast as it is read.
const MOST_ATTEMPTS = 64;

/** The part of a session that a write needs. */
export type WriteSession = Pick<Session, 'requests' | 'whenConnected' | 'persistently'>;

/** One write, with as many attempts, connections and sessions as it takes to know its outcome. */
export class RecordWriting {
  readonly #acl: readonly Acl[];
  readonly #id = randomUUID();
  #changes: readonly PlacedChange[];
  #parents: readonly string[] = [];
  #state: 'to be sent' | 'in doubt' | 'applied' = 'to be sent';
  /** Whether an earlier attempt may have been applied. It was repeated because that does no harm. */
  #mayBeApplied = false;
  #results: ResultsByChange = new Map();
  #sent: SentTransaction = { ops: [], sentAfter: 0n };

  constructor(changes: readonly (RecordChange & { readonly path: string })[], acl: readonly Acl[]) {
    this.#changes = changes;
    this.#acl = acl;
  }

  /** Whether an attempt was sent and its outcome is not known. */
  get isInDoubt(): boolean {
    return this.#state === 'in doubt';
  }

  /**
   * Makes the write.
   * @throws KeeperError, SessionEndedError, `signal.reason`, and LockUnavailableError when the outcome cannot be known
   *   any more
   */
  async on(session: WriteSession, signal: AbortSignal): Promise<RecordWrite> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const known = this.isInDoubt ? await this.#findOut(session, signal) : undefined;
      const done = known ?? (await this.#attempt(session, signal));
      if (done) return done;
    }
    throw new KeeperError(ErrorCode.operationTimeout, this.#changes[0]?.path);
  }

  async #attempt(session: WriteSession, signal: AbortSignal): Promise<RecordWrite | undefined> {
    if (this.#state !== 'applied') {
      const refusal = await this.#send(session, signal);
      if (this.isInDoubt) return undefined;
      if (refusal) return this.#mistaken(refusal, session, signal);
    }
    const time = await timeOf(session, this.#changes, this.#results, signal);
    return { isApplied: true, records: writtenBy(this.#changes, this.#results, time) };
  }

  /** Sends one attempt. Returns the refusal, if there was one. */
  async #send(session: WriteSession, signal: AbortSignal): Promise<KeeperError | undefined> {
    const transaction = new RecordTransaction(this.#changes, this.#parents, { acl: this.#acl, writeId: this.#id });
    const { ops } = transaction;
    await session.whenConnected(signal);
    this.#sent = { ops, sentAfter: session.requests.latestZxid };
    this.#state = 'in doubt';
    const results = ops.length === 0 ? [] : await orAbort(this.#answered(session, ops), signal);
    if (!results) return undefined;
    const place = refusedAt(results);
    this.#state = place < 0 ? 'applied' : 'to be sent';
    this.#results = transaction.resultsByChange(results);
    return place < 0 ? undefined : new KeeperError(results[place]?.error ?? ErrorCode.ok, ops[place]?.path);
  }

  /** Returns the results of the transaction, or `undefined` when the reply was lost. */
  async #answered({ requests }: WriteSession, ops: readonly MultiOp[]): Promise<readonly MultiResult[] | undefined> {
    try {
      return (await requests.multi(ops)).results;
    } catch (error) {
      if (isConnectionLoss(error)) return undefined;
      // A request that was refused, or never sent, was not applied. An earlier attempt may have been.
      if (!this.#mayBeApplied) this.#state = 'to be sent';
      throw error;
    }
  }

  /** Reads the records after a refusal. `undefined`: they are as expected, and the next attempt knows their state. */
  async #mistaken(refusal: KeeperError, session: WriteSession, signal: AbortSignal): Promise<RecordWrite | undefined> {
    if (!MISTAKEN.includes(refusal.code)) throw refusal;
    await session.persistently(() => this.#look(session), signal);
    return this.#knownConflict();
  }

  /** Determines the outcome after a lost reply. `undefined`: the write can be repeated. */
  async #findOut(session: WriteSession, signal: AbortSignal): Promise<RecordWrite | undefined> {
    await session.persistently(async () => {
      // The connected server may not have applied the write yet. After a sync it has, or never will.
      await session.requests.sync(this.#changes[0]?.path ?? '/');
      await this.#look(session);
    }, signal);
    const records = tracesOf(this.#changes, this.#sent.ops, this.#id);
    if (records) return { isApplied: true, records };
    this.#mayBeApplied ||= await this.#mayHaveTakenEffect(session, signal);
    this.#state = 'to be sent';
    if (this.#mayBeApplied && this.#changes.some(isConditional)) throw unknowable(this.#name);
    return this.#knownConflict();
  }

  /** Returns the conflict that shows that the write was not applied. @throws LockUnavailableError if it shows nothing */
  #knownConflict(): { isApplied: false; conflict: string } | undefined {
    const conflict = this.#conflict();
    if (conflict && this.#mayBeApplied) throw unknowable(conflict.conflict);
    return conflict;
  }

  async #mayHaveTakenEffect(session: WriteSession, signal: AbortSignal): Promise<boolean> {
    if (!this.#changes.some(isEffective)) return false;
    return !(await session.persistently(() => wasNotApplied(session.requests, this.#sent), signal));
  }

  async #look({ requests }: WriteSession): Promise<void> {
    const sights = await Promise.all(this.#changes.map(({ path }) => lookAt(requests, path)));
    this.#changes = this.#changes.map((change, place) => ({ ...change, sight: sights[place] }));
    const created = this.#changes.filter(mayCreate).map(({ path }) => path);
    this.#parents = await missingParents(requests, created);
  }

  get #name(): string {
    return this.#changes[0]?.name ?? '';
  }

  #conflict(): { isApplied: false; conflict: string } | undefined {
    const found = this.#changes.find((change) => change.sight && !isAsExpected(change, change.sight));
    return found && { isApplied: false, conflict: found.name };
  }
}

function unknowable(name: string): LockUnavailableError {
  const why = 'the connection was lost before the answer, and what the records say now does not tell';
  return new LockUnavailableError(`whether "${name}" was written cannot be known: ${why}`, { key: name });
}

/**
 * The outcome of a write: from replies or, after a lost reply, from the records. A record with the write's id shows
 * that it was applied.
 */

type ReadSession = Pick<Session, 'requests' | 'persistently'>;

/** The results of a transaction, by the change that they belong to. */
type ResultsByChange = ReadonlyMap<PlacedChange, readonly MultiResult[]>;

/** The records that an applied write has written. */
function writtenBy(
  changes: readonly PlacedChange[],
  results: ResultsByChange,
  writtenAt: Date | undefined,
): StoredRecord[] {
  return changes.flatMap((change) => {
    const { name, value } = change;
    if (typeof value !== 'string' || !writtenAt) return [];
    // Before ZooKeeper 3.9 the result of a create has no stat. Its version is always 0.
    return { name, value, version: results.get(change)?.[0]?.stat?.version ?? 0, writtenAt };
  });
}

/**
 * The time of an applied write: one transaction has one time. `undefined` when nothing that it wrote still shows it.
 */
async function timeOf(
  session: ReadSession,
  changes: readonly PlacedChange[],
  results: ResultsByChange,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const stat = [...results.values()].flat().find((result) => result.stat)?.stat;
  if (stat) return dateOf(stat.mtime);
  const created = changes.find(({ value }) => typeof value === 'string');
  return created && dateOf((await statOf(session, created.path, signal))?.ctime);
}

/** The records that the write has written, by what they show now. `undefined` when none of them shows the write. */
function tracesOf(
  changes: readonly PlacedChange[],
  sent: readonly MultiOp[],
  writeId: string,
): StoredRecord[] | undefined {
  const trace = changes.map(({ sight }) => sight?.record).find((record) => record?.writeId === writeId);
  if (!trace) return undefined;
  return changes.flatMap(({ name, path, value, sight }) => {
    if (typeof value !== 'string') return [];
    const { record } = sight ?? {};
    // A record that others have written since was written by this write all the same.
    const version = record?.writeId === writeId ? record.version : versionMadeAt(path, sent);
    return version === undefined ? [] : { name, value, version, writtenAt: trace.writtenAt };
  });
}

/** Whether the change has an effect when it is applied. */
function isEffective({ value, ifVersion }: PlacedChange): boolean {
  return typeof value === 'string' || (value === undefined && ifVersion !== 'absent');
}

/**
 * Whether the change must not be made twice: others may have undone it, and then its condition would hold once more.
 */
function isConditional(change: PlacedChange): boolean {
  return isEffective(change) && change.ifVersion !== undefined;
}

/** The version that the transaction gave the record. `undefined` when it did not ask for one. */
function versionMadeAt(path: string, sent: readonly MultiOp[]): number | undefined {
  const op = sent.find((one) => one.path === path);
  if (op?.type === 'create2') return 0;
  return op?.type === 'setData' && op.version !== undefined ? op.version + 1 : undefined;
}

async function statOf(session: ReadSession, path: string, signal: AbortSignal): Promise<Stat | undefined> {
  try {
    return (await session.persistently(() => session.requests.read(path), signal)).stat;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return undefined;
    throw error;
  }
}

function dateOf(time: bigint | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(Number(time));
}
