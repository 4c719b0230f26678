import { OwnAbortController } from '../../async/abort.js';
import type { Place } from '../../async/collections.js';
import { settledWithin } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError, SessionEndedError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { OwnNode } from '../session/heartbeat.js';
import type { Session } from '../session/session.js';
import { contenderNameOf } from './contender-znode.js';
import type { ContenderName } from './contender-znode.js';
import { NodeDeletedError } from './held-nodes.js';
import type { LeaseNodes, NodesListener, OwnWatch } from './held-nodes.js';
import { joinQueue, leaveQueue } from './wait-queue-view.js';
import type { WaitQueueView } from './wait-queue-view.js';

/** The fields that only the contender itself changes. */
type Changing = {
  -readonly [K in 'path' | 'name' | 'parsed' | 'czxid' | 'isGone' | 'isLeaving' | 'isExchanged']: Contender[K];
};

/** A place in a wait queue: one ephemeral znode, which is certain to be deleted in the end. */
export class Contender implements LeaseNodes, OwnNode {
  /** The session's view of the wait queue that this contender is in. */
  readonly queue: WaitQueueView;
  /** The watch on its znode, once there is one. */
  watch: OwnWatch | undefined = undefined;
  readonly path: string;
  readonly name: string;
  /** The kind and number in its name. `undefined` for a name that is not one of a wait queue. */
  readonly parsed: ContenderName | undefined;
  /** The creation zxid of its current znode. */
  readonly czxid: bigint;
  /** Whether the znode was found to be gone although this process did not delete it. */
  readonly isGone: boolean = false;
  /** Whether it has left the queue, or is about to. */
  readonly isLeaving: boolean = false;
  /** Whether it continues with another znode. */
  readonly isExchanged: boolean = false;
  readonly #session: Session;
  #gone: AbortController | undefined;
  #isRevoked = false;
  #listener: NodesListener | undefined;
  #onLeft: (() => void) | undefined;
  /** Its place among the znodes that heartbeats check. */
  #tracked: Place<OwnNode>;
  #exchange: Promise<void> | undefined;
  #left: Promise<void> | undefined;

  constructor(session: Session, { path, czxid }: CreatedNode) {
    const slash = path.lastIndexOf('/');
    this.path = path;
    this.name = path.slice(slash + 1);
    this.parsed = contenderNameOf(this.name);
    this.czxid = czxid;
    this.#session = session;
    this.queue = joinQueue(session, path.slice(0, slash), this);
    this.#tracked = session.track(this);
  }

  get directory(): string {
    return this.queue.path;
  }

  /** Aborts with a `NodeDeletedError` when `isGone` becomes true. */
  get gone(): AbortSignal {
    this.#gone ??= new OwnAbortController();
    if (this.isGone) this.#gone.abort(new NodeDeletedError(this.path));
    return this.#gone.signal;
  }

  listen(listener: NodesListener | undefined): void {
    this.#listener = listener;
    if (this.isGone) listener?.gone(new NodeDeletedError(this.path));
    if (this.#isRevoked) listener?.revoked?.();
  }

  /** Calls back when the contender has left and its znode was deleted here. There is one such listener. */
  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  /** Called when another client has requested revocation. */
  foundRevoked(): void {
    if (this.#isRevoked) return;
    this.#isRevoked = true;
    this.#listener?.revoked?.();
  }

  /** Called when another client has deleted the znode. */
  foundGone(): void {
    if (this.isGone) return;
    (this as Changing).isGone = true;
    const reason = new NodeDeletedError(this.path);
    this.#gone?.abort(reason);
    this.#listener?.gone(reason);
    leaveQueue(this.#session, this.queue.path, this, 'unknown');
  }

  /**
   * Continues in the same place with the znode that `exchange` creates instead of its own. If it creates none, the
   * contender keeps its own. Resolves when the outcome is known, and never rejects.
   */
  exchangeFor(exchange: () => Promise<CreatedNode>): Promise<void> {
    return (this.#exchange ??= this.#goOnWith(exchange));
  }

  /** Whether this path is still that of its znode. Waits for an exchange that is under way. */
  async isStillAt(path: string): Promise<boolean> {
    await this.#exchange;
    return this.path === path;
  }

  /**
   * Deletes the znode for certain: retries through disconnections until the znode is gone or the session has ended.
   * Resolves then, or after `ms`; the deletion then continues in the background. Never rejects.
   */
  leave(ms: number): Promise<void> {
    this.#tracked.leave();
    (this as Changing).isLeaving = true;
    // A znode that was found to be gone may have been created again by another client, at the same path.
    this.#left ??= this.isGone ? Promise.resolve() : this.#delete();
    return settledWithin(this.#left, ms, this.#session.alarms);
  }

  /**
   * Leaves the queue by `deletion`, which deletes the znode and more in one transaction, or ends with `leave`. No
   * contender is notified meanwhile that the znode is gone. When it rejects, the contender is as it was before.
   */
  async leaveBy(deletion: () => Promise<void>): Promise<void> {
    this.#tracked.leave();
    (this as Changing).isLeaving = true;
    try {
      await deletion();
      this.#left ??= Promise.resolve();
      leaveQueue(this.#session, this.queue.path, this, 'left');
    } catch (error) {
      (this as Changing).isLeaving = this.#left !== undefined;
      if (!this.isGone && !this.#left) this.#stays();
      throw error;
    }
  }

  #stays(): void {
    this.#tracked = this.#session.track(this);
    this.watch?.stays();
  }

  /** Whether other clients create znodes at the same path, which must not be taken for this one. */
  get sharesItsName(): boolean {
    return !this.name.startsWith('_c_');
  }

  async #goOnWith(exchange: () => Promise<CreatedNode>): Promise<void> {
    // A check of a znode that is being replaced would find that it is gone.
    this.#tracked.leave();
    const made = await exchange().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) this.foundGone();
      return undefined;
    });
    if (this.isGone) return;
    if (made) this.#moved(made);
    if (!this.isLeaving) this.#tracked = this.#session.track(this);
  }

  #moved({ path, czxid }: CreatedNode): void {
    const from = this.name;
    const name = path.slice(this.directory.length + 1);
    const changed = { path, czxid, name, parsed: contenderNameOf(name), isExchanged: true };
    Object.assign(this, changed satisfies Partial<Changing>);
    this.queue.moved(this, from);
  }

  async #delete(): Promise<void> {
    // Which znode is to be deleted is known after an exchange that is under way.
    if (this.#exchange) await this.#exchange;
    this.queue.leaving(this);
    try {
      await this.#session.requests.delete(this.path);
    } catch (error) {
      if (!(await deleteAgain(this.#session, this, error))) return this.queue.stays(this);
    }
    leaveQueue(this.#session, this.queue.path, this, 'left');
    this.#onLeft?.();
  }
}

/**
 * Deletes a contender's znode for certain after a first attempt that has failed: retries through disconnections until
 * the znode is gone or the session has ended. Resolves to whether that is so; never rejects.
 */
async function deleteAgain(
  session: Session,
  { path, czxid, sharesItsName }: OwnNode,
  failure: unknown,
): Promise<boolean> {
  let mayBeAnothers = sharesItsName && isConnectionLoss(failure);
  // If the name is shared, an attempt after a lost reply first reads whose znode it is.
  const attempt = async () => {
    if (mayBeAnothers && !(await isStillThere(session, { path, czxid }))) return;
    await session.requests.delete(path).catch((error: unknown) => {
      mayBeAnothers = sharesItsName && isConnectionLoss(error);
      throw error;
    });
  };
  try {
    if (!isKeeperError(failure, 'noNode')) await session.surely(attempt);
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode') || error instanceof SessionEndedError) return true;
    const why = String(error);
    process.emitWarning(`${path} cannot be deleted; it blocks its queue until the session ends: ${why}`);
    return false;
  }
}

async function isStillThere({ requests }: Session, { path, czxid }: CreatedNode): Promise<boolean> {
  await requests.sync(path);
  return (await requests.read(path)).stat.czxid === czxid;
}
