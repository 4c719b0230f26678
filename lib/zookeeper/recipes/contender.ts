import { OwnAbortController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError, SessionEndedError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { hasOwnName } from './contender-name.js';
import { NodeDeletedError } from './held-nodes.js';
import type { GoneListener, LeaseNodes } from './held-nodes.js';
import { joinLine, partFromLine } from './wait-queue-view.js';
import type { Line } from './wait-queue-view.js';

/** A place in line: one ephemeral znode, and the promise that it will be gone. */
export class Contender implements LeaseNodes {
  readonly directory: string;
  /** What its session knows of the line in which it stands. */
  readonly line: Line;
  readonly #session: Session;
  #gone: AbortController | undefined;
  #isGone = false;
  #onGone: GoneListener | undefined;
  #onLeft: (() => void) | undefined;
  #isRevoked = false;
  #onRevoked: (() => void) | undefined;
  #path: string;
  #name: string;
  #czxid: bigint;
  #unattend: Dispose;
  #exchange: Promise<void> | undefined;
  #isExchanged = false;
  #left: Promise<void> | undefined;
  #isLeavingBy = false;

  constructor(session: Session, { path, czxid }: CreatedNode) {
    const slash = path.lastIndexOf('/');
    this.#path = path;
    this.#name = path.slice(slash + 1);
    this.directory = path.slice(0, slash);
    this.#czxid = czxid;
    this.#session = session;
    this.line = joinLine(session, this.directory, this);
    this.#unattend = this.#attend();
  }

  get path(): string {
    return this.#path;
  }

  get name(): string {
    return this.#name;
  }

  /** Of the znode that it has now. */
  get czxid(): bigint {
    return this.#czxid;
  }

  /** Whether it has gone out, or is about to. */
  get isLeaving(): boolean {
    return this.#isLeavingBy || this.#left !== undefined;
  }

  /** Whether the znode was found gone although nobody here deleted it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Aborts with a `NodeDeletedError` then. */
  get gone(): AbortSignal {
    this.#gone ??= new OwnAbortController();
    if (this.#isGone) this.#gone.abort(new NodeDeletedError(this.path));
    return this.#gone.signal;
  }

  /** Calls back then; at once when it is so. There is one such listener. */
  onGone(listener: GoneListener | undefined): void {
    this.#onGone = listener;
    if (this.#isGone) listener?.(new NodeDeletedError(this.path));
  }

  /** Calls back when it has gone out and its znode was deleted here. There is one such listener. */
  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  /** Calls back when somebody asks it to give way; at once when somebody has. There is one such listener. */
  onRevoked(listener: () => void): void {
    if (this.#isRevoked) listener();
    else this.#onRevoked = listener;
  }

  /** Somebody has asked it to give way. */
  foundRevoked(): void {
    if (!this.#isRevoked) this.#onRevoked?.();
    this.#isRevoked = true;
  }

  /** Somebody else has deleted the znode. */
  foundGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const reason = new NodeDeletedError(this.path);
    this.#gone?.abort(reason);
    this.#onGone?.(reason);
    partFromLine(this.#session, this.directory, this, 'unknown');
  }

  /**
   * Goes on in the same place with the znode that `exchange` puts there instead of its own, or with its own where it
   * makes none. Resolves when that is known, and never rejects.
   */
  exchangeFor(exchange: () => Promise<CreatedNode>): Promise<void> {
    return (this.#exchange ??= this.#goOnWith(exchange));
  }

  /** Whether it has gone on with another znode. */
  get isExchanged(): boolean {
    return this.#isExchanged;
  }

  /** Whether this path is still that of its znode, once it is known. */
  async isStillAt(path: string): Promise<boolean> {
    await this.#exchange;
    return this.#path === path;
  }

  /**
   * Deletes the znode, for certain: through disconnections, until it is gone or the session is. Resolves when that is
   * so, or after `ms`, when it goes on by itself. Never rejects.
   */
  leave(ms: number): Promise<void> {
    this.#unattend();
    // What was found gone may have been made again by somebody else, at the same path.
    this.#left ??= this.#isGone ? Promise.resolve() : this.#depart();
    return settledWithin(this.#left, ms);
  }

  /**
   * Goes out by what `deletion` does, which deletes the znode and more in one transaction, or ends with `leave`. Nobody is
   * told meanwhile that the znode is gone. When it rejects the contender stays as it was.
   */
  async leaveBy(deletion: () => Promise<void>): Promise<void> {
    this.#unattend();
    this.#isLeavingBy = true;
    try {
      await deletion();
      this.#left ??= Promise.resolve();
      partFromLine(this.#session, this.directory, this, 'left');
    } catch (error) {
      if (!this.#isGone && !this.#left) this.#unattend = this.#attend();
      throw error;
    } finally {
      this.#isLeavingBy = false;
    }
  }

  /** Whether others make znodes at the same path, which must not be taken for this one. */
  get sharesItsName(): boolean {
    return !hasOwnName(this.name);
  }

  #attend(): Dispose {
    const czxid = this.sharesItsName ? this.czxid : undefined;
    return this.#session.attend({ path: this.#path, czxid, onGone: () => this.foundGone() });
  }

  async #goOnWith(exchange: () => Promise<CreatedNode>): Promise<void> {
    // A check of a znode that is being taken away would find that it is gone.
    this.#unattend();
    const made = await exchange().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) this.foundGone();
      return undefined;
    });
    if (this.#isGone) return;
    if (made) this.#moved(made);
    if (!this.isLeaving) this.#unattend = this.#attend();
  }

  #moved({ path, czxid }: CreatedNode): void {
    const from = this.#name;
    this.#path = path;
    this.#czxid = czxid;
    this.#name = path.slice(this.directory.length + 1);
    this.#isExchanged = true;
    this.line.moved(this, from);
  }

  #depart(): Promise<void> {
    return this.#exchange ? this.#exchange.then(() => this.#delete()) : this.#delete();
  }

  async #delete(): Promise<void> {
    this.line.leaving(this);
    const isGone = await deleteOwn(this.#session, { path: this.path, czxid: this.czxid });
    if (!isGone) return this.line.stays(this);
    partFromLine(this.#session, this.directory, this, 'left');
    this.#onLeft?.();
  }
}

/**
 * Deletes a contender's znode, for certain: through disconnections, until it is gone or the session is. Resolves to whether
 * that is so; never rejects.
 */
async function deleteOwn(session: Session, node: CreatedNode): Promise<boolean> {
  const attempt = deletionOf(session, node);
  try {
    // Most often the first attempt does.
    await attempt().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) throw error;
      return session.surely(attempt);
    });
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode') || error instanceof SessionEndedError) return true;
    const why = String(error);
    process.emitWarning(`${node.path} can not be deleted; it blocks its line until the session ends: ${why}`);
    return false;
  }
}

/** One attempt after the other; of a shared name, only the first is made without looking whose znode it is. */
function deletionOf(session: Session, node: CreatedNode): () => Promise<void> {
  const { path } = node;
  const sharesItsName = !hasOwnName(path.slice(path.lastIndexOf('/') + 1));
  let mayBeAnothers = false;
  return async () => {
    if (mayBeAnothers && !(await isStillThere(session, node))) return;
    await session.requests.delete(path).catch((error: unknown) => {
      mayBeAnothers = sharesItsName && isConnectionLoss(error);
      throw error;
    });
  };
}

async function isStillThere({ requests }: Session, { path, czxid }: CreatedNode): Promise<boolean> {
  await requests.sync(path);
  return (await requests.read(path)).stat.czxid === czxid;
}
