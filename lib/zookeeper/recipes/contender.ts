import { OwnAbortController } from '../../async/abort.js';
import type { Place } from '../../async/collections.js';
import { settledWithin } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError, SessionEndedError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { OwnNode } from '../session/heartbeat.js';
import type { Session } from '../session/session.js';
import { contenderNameOf, hasOwnName } from './contender-name.js';
import type { ContenderName } from './contender-name.js';
import { NodeDeletedError } from './held-nodes.js';
import type { LeaseNodes, NodesListener, OwnWatch } from './held-nodes.js';
import { joinQueue, leaveQueue } from './wait-queue-view.js';
import type { WaitQueueView } from './wait-queue-view.js';

/** A place in a wait queue: one ephemeral znode, which is certain to be deleted in the end. */
export class Contender implements LeaseNodes, OwnNode {
  /** The session's view of the wait queue that this contender is in. */
  readonly queue: WaitQueueView;
  /** The watch on its znode, once there is one. */
  watch: OwnWatch | undefined = undefined;
  readonly #session: Session;
  #gone: AbortController | undefined;
  #isGone = false;
  #isRevoked = false;
  #listener: NodesListener | undefined;
  #onLeft: (() => void) | undefined;
  #path: string;
  #name: string;
  #parsed: ContenderName | undefined;
  #czxid: bigint;
  /** Its place among the znodes that heartbeats check. */
  #tracked: Place<OwnNode>;
  #exchange: Promise<void> | undefined;
  #isExchanged = false;
  #left: Promise<void> | undefined;
  #isLeavingBy = false;

  constructor(session: Session, { path, czxid }: CreatedNode) {
    const slash = path.lastIndexOf('/');
    this.#path = path;
    this.#name = path.slice(slash + 1);
    this.#parsed = contenderNameOf(this.#name);
    this.#czxid = czxid;
    this.#session = session;
    this.queue = joinQueue(session, path.slice(0, slash), this);
    this.#tracked = session.track(this);
  }

  get path(): string {
    return this.#path;
  }

  get directory(): string {
    return this.queue.path;
  }

  get name(): string {
    return this.#name;
  }

  /** The kind and number in its name. `undefined` for a name that is not one of a wait queue. */
  get parsed(): ContenderName | undefined {
    return this.#parsed;
  }

  /** The creation zxid of its current znode. */
  get czxid(): bigint {
    return this.#czxid;
  }

  /** Whether it has left the queue, or is about to. */
  get isLeaving(): boolean {
    return this.#isLeavingBy || this.#left !== undefined;
  }

  /** Whether the znode was found to be gone although this process did not delete it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Aborts with a `NodeDeletedError` when `isGone` becomes true. */
  get gone(): AbortSignal {
    this.#gone ??= new OwnAbortController();
    if (this.#isGone) this.#gone.abort(new NodeDeletedError(this.path));
    return this.#gone.signal;
  }

  listen(listener: NodesListener | undefined): void {
    this.#listener = listener;
    if (this.#isGone) listener?.gone(new NodeDeletedError(this.path));
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
    if (this.#isGone) return;
    this.#isGone = true;
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

  /** Whether it continues with another znode. */
  get isExchanged(): boolean {
    return this.#isExchanged;
  }

  /** Whether this path is still that of its znode. Waits for an exchange that is under way. */
  async isStillAt(path: string): Promise<boolean> {
    await this.#exchange;
    return this.#path === path;
  }

  /**
   * Deletes the znode for certain: retries through disconnections until the znode is gone or the session has ended.
   * Resolves then, or after `ms`; the deletion then continues in the background. Never rejects.
   */
  leave(ms: number): Promise<void> {
    this.#tracked.leave();
    // A znode that was found to be gone may have been created again by another client, at the same path.
    this.#left ??= this.#isGone ? Promise.resolve() : this.#depart();
    return settledWithin(this.#left, ms, this.#session.alarms);
  }

  /**
   * Leaves the queue by `deletion`, which deletes the znode and more in one transaction, or ends with `leave`. No
   * contender is notified meanwhile that the znode is gone. When it rejects, the contender is as it was before.
   */
  async leaveBy(deletion: () => Promise<void>): Promise<void> {
    this.#tracked.leave();
    this.#isLeavingBy = true;
    try {
      await deletion();
      this.#left ??= Promise.resolve();
      leaveQueue(this.#session, this.queue.path, this, 'left');
    } catch (error) {
      if (!this.#isGone && !this.#left) this.#tracked = this.#session.track(this);
      throw error;
    } finally {
      this.#isLeavingBy = false;
    }
  }

  /** Whether other clients create znodes at the same path, which must not be taken for this one. */
  get sharesItsName(): boolean {
    return !hasOwnName(this.name);
  }

  async #goOnWith(exchange: () => Promise<CreatedNode>): Promise<void> {
    // A check of a znode that is being replaced would find that it is gone.
    this.#tracked.leave();
    const made = await exchange().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) this.foundGone();
      return undefined;
    });
    if (this.#isGone) return;
    if (made) this.#moved(made);
    if (!this.isLeaving) this.#tracked = this.#session.track(this);
  }

  #moved({ path, czxid }: CreatedNode): void {
    const from = this.#name;
    this.#path = path;
    this.#czxid = czxid;
    this.#name = path.slice(this.directory.length + 1);
    this.#parsed = contenderNameOf(this.#name);
    this.#isExchanged = true;
    this.queue.moved(this, from);
  }

  #depart(): Promise<void> {
    return this.#exchange ? this.#exchange.then(() => this.#delete()) : this.#delete();
  }

  async #delete(): Promise<void> {
    this.queue.leaving(this);
    const isGone = await deleteOwn(this.#session, { path: this.path, czxid: this.czxid });
    if (!isGone) return this.queue.stays(this);
    leaveQueue(this.#session, this.queue.path, this, 'left');
    this.#onLeft?.();
  }
}

/**
 * Deletes a contender's znode for certain: retries through disconnections until the znode is gone or the session has
 * ended. Resolves to whether that is so; never rejects.
 */
async function deleteOwn(session: Session, node: CreatedNode): Promise<boolean> {
  const attempt = deletionOf(session, node);
  try {
    // Usually the first attempt succeeds.
    await attempt().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) throw error;
      return session.surely(attempt);
    });
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode') || error instanceof SessionEndedError) return true;
    const why = String(error);
    process.emitWarning(`${node.path} cannot be deleted; it blocks its queue until the session ends: ${why}`);
    return false;
  }
}

/**
 * Returns a function that makes one attempt per call. If the name is shared, an attempt after a lost reply first reads
 * whose znode it is.
 */
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
