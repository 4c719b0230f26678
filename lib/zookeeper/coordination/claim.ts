import { LockLostError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { TakenItem } from '../../contract/queues.js';
import { Contender } from '../recipes/contender.js';
import { refusedAt } from '../recipes/refusal.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { grantLease } from '../recipes/zookeeper-lease.js';
import { ErrorCode, isConnectionLoss, KeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { SessionEndedError } from '../session/session-ended-error.js';
import { leftBacklog } from './backlog.js';

/** What a claim is on. */
export interface Claimed extends Pick<TakenItem, 'id' | 'payload'> {
  readonly key: string;
  readonly label?: string | undefined;
  /** The item's znode. */
  readonly path: string;
}

/** That an item is this session's, for as long as the claim's own znode stands. */
export class Claim implements TakenItem {
  readonly id: string;
  readonly payload: Buffer;
  readonly lease: GrantedLease;
  readonly #session: Session;
  readonly #contender: Contender;
  readonly #what: Claimed;
  readonly #leavingMs: number;

  constructor(session: Session, claims: LockDirectory, node: CreatedNode, what: Claimed) {
    this.id = what.id;
    this.payload = what.payload;
    this.#session = session;
    this.#contender = new Contender(session, node);
    this.#what = what;
    this.#leavingMs = claims.releaseTimeoutMs;
    const { key, label } = what;
    const request = { key, label, mode: 'exclusive', line: 'none', wait: true, signal: session.signal } as const;
    this.lease = grantLease(session, claims, this.#contender, request);
  }

  /** Removes the item and the claim in one transaction: nobody ever sees the item without a claim. */
  async ack(): Promise<void> {
    const { key, path } = this.#what;
    if (!this.lease.isHeld()) throw lost(key);
    let isInDoubt = false;
    const remove = () =>
      this.#remove(path).catch((error: unknown) => {
        isInDoubt ||= isConnectionLoss(error);
        throw error;
      });
    await this.#contender.leaveBy(() =>
      this.#session.surely(remove).catch((error: unknown) => this.#notRemoved(error, isInDoubt)),
    );
    leftBacklog(this.#session, path);
    void this.lease.release();
  }

  async #remove(item: string): Promise<void> {
    const ops = [item, this.#contender.path].map((path) => ({ type: 'delete', path }) as const);
    const { results } = await this.#session.requests.multi(ops);
    const failed = refusedAt(results);
    if (failed >= 0) throw new KeeperError(results[failed]?.error ?? ErrorCode.noNode, ops[failed]?.path);
  }

  /** The session is over, the claim is gone, or the item is: removed by an attempt before, or by somebody else. */
  async #notRemoved(error: unknown, isInDoubt: boolean): Promise<void> {
    const { key, path } = this.#what;
    if (error instanceof SessionEndedError) throw lost(key, error);
    if (!(error instanceof KeeperError) || error.code !== ErrorCode.noNode) throw error;
    if (error.path !== path) {
      this.#contender.foundGone();
      throw lost(key);
    }
    if (!isInDoubt) await this.#contender.leave(this.#leavingMs);
  }
}

function lost(key: string, cause?: unknown): LockLostError {
  return new LockLostError(key, 'the item may have been delivered to somebody else', { cause });
}
