import { randomUUID } from 'node:crypto';
import type { QueueTakeRequest, TakenItem } from '../../contract/coordination-backend.js';
import { LockLostError } from '../../contract/errors.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import { nameOf } from '../../contract/lock-request.js';
import { contenderData, contenderId } from '../recipes/contender-znode.js';
import { Contender } from '../recipes/contender.js';
import { createDirectory } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { grantLease } from '../recipes/zookeeper-lease.js';
import {
  CreateMode,
  ErrorCode,
  isConnectionLoss,
  KeeperError,
  refusedAt,
  SessionEndedError,
} from '../session/requests.js';
import type { CreatedNode, MultiOp, MultiResult, Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { leftBacklog } from './backlog.js';
import { readItemData } from './queue-place.js';
import type { QueuePlace } from './queue-place.js';
import { whileCurrent } from './while-current.js';

interface ItemNode {
  readonly data: Buffer;
  readonly stat: Stat;
}

/** The result of an attempt: the zxid of the claims, the item that could not be claimed, or that it can be repeated. */
type Outcome = { readonly zxid: bigint } | { readonly missed: string; readonly isGone: boolean } | 'again';

/**
 * One caller's claims on items. They are not cut short by the caller's signal: a caller that aborts needs to know what
 * to put back.
 */
export class ItemClaims {
  readonly #session: Session;
  readonly #place: QueuePlace;
  readonly #request: QueueTakeRequest;
  readonly #id = randomUUID();

  constructor(session: Session, place: QueuePlace, request: QueueTakeRequest) {
    this.#session = session;
    this.#place = place;
    this.#request = request;
  }

  /**
   * Claims the first of these items, in one attempt either all or none.
   * @param attempts `'once'`: returns none when another caller has claimed one of the first; `'any'`: tries the next
   * ones then
   * @param fewest returns none when fewer items are left
   */
  async of(free: readonly string[], attempts: 'once' | 'any', fewest = 1): Promise<readonly TakenItem[]> {
    let names = free;
    while (names.length >= fewest) {
      const first = names.slice(0, this.#request.atMost);
      const attempt = this.#attempt(first);
      // Sent after the claim. An item that is read before its claim may be replaced by another one of the same name.
      const reading = first.map((name) => this.#read(name).catch(() => undefined));
      const outcome = await attempt;
      if (outcome === 'again') {
        // Another attempt could claim an item after the caller was told that it has none.
        if (this.#request.signal.aborted) return [];
        continue;
      }
      if ('zxid' in outcome) return this.#taken(first, outcome.zxid, await Promise.all(reading));
      if (outcome.isGone) leftBacklog(this.#session, `${this.#place.items.path}/${outcome.missed}`);
      else if (attempts === 'once') return [];
      names = names.filter((name) => name !== outcome.missed);
    }
    return [];
  }

  async #attempt(names: readonly string[]): Promise<Outcome> {
    const ops = names.flatMap((name) => this.#opsOf(name));
    try {
      const { results, zxid } = await this.#session.requests.multi(ops);
      const failed = refusedAt(results);
      return failed < 0 ? { zxid } : await this.#refused(ops, results, failed, names);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      return this.#session.surely(() => this.#find(names));
    }
  }

  #opsOf(name: string): readonly MultiOp[] {
    const { items, claims } = this.#place;
    const data = contenderData(this.#request.label, this.#id);
    const claim = { path: `${claims.path}/${name}`, data, acl: claims.acl, flags: CreateMode.ephemeral };
    return [
      { type: 'check', path: `${items.path}/${name}` },
      { type: 'create', ...claim },
    ];
  }

  async #refused(
    ops: readonly MultiOp[],
    results: readonly MultiResult[],
    failed: number,
    names: readonly string[],
  ): Promise<Outcome> {
    const { type, path } = ops[failed] ?? {};
    const error = results[failed]?.error ?? ErrorCode.runtimeInconsistency;
    const isGone = type === 'check' && error === ErrorCode.noNode;
    if (isGone || error === ErrorCode.nodeExists) return { missed: names[failed >> 1] ?? '', isGone };
    if (error !== ErrorCode.noNode) throw new KeeperError(error, path);
    await createDirectory(this.#session.requests, this.#place.claims).catch((lost: unknown) => {
      if (!isConnectionLoss(lost)) throw lost;
    });
    return 'again';
  }

  /** Finds the claims after a lost reply, if they were made. */
  async #find([first = '']: readonly string[]): Promise<Outcome> {
    const path = `${this.#place.claims.path}/${first}`;
    const { requests } = this.#session;
    // The server that is connected now may not have applied the claims yet. After a sync it has, or never will.
    const [, found] = await Promise.all([requests.sync(path), unlessMissing(requests.read(path), undefined)]);
    return found && contenderId(found.data) === this.#id ? { zxid: found.stat.czxid } : 'again';
  }

  async #taken(
    names: readonly string[],
    czxid: bigint,
    read: readonly (ItemNode | undefined)[],
  ): Promise<readonly TakenItem[]> {
    const items: TakenItem[] = [];
    for (const [place, name] of names.entries()) {
      const node = read[place] ?? (await this.#session.surely(() => unlessMissing(this.#read(name), undefined)));
      items.push(...this.#itemsOf(name, czxid, node));
    }
    return items;
  }

  #itemsOf(name: string, czxid: bigint, node: ItemNode | undefined): readonly TakenItem[] {
    const { items, claims } = this.#place;
    const { label } = this.#request;
    const key = nameOf(this.#request);
    const { payloads, id } = (node && readItemData(node.data)) ?? { payloads: [node?.data ?? EMPTY], id: '' };
    const ownId = id === '' ? `${node?.stat.czxid.toString(16)}-${name}` : id;
    const what = { key, label, path: `${items.path}/${name}`, id: ownId, payload: payloads[0] ?? EMPTY };
    const claim = new Claim(this.#session, claims, { path: `${claims.path}/${name}`, czxid }, what);
    if (node && payloads.length === 1) return [claim];
    // The item was deleted by a client that ignores claims, or it has no value.
    if (!node || payloads.length === 0) claim.ack().catch(() => {});
    return node ? partsOf(claim, payloads) : [];
  }

  async #read(name: string): Promise<ItemNode> {
    return this.#session.requests.read(`${this.#place.items.path}/${name}`);
  }
}

const EMPTY = Buffer.alloc(0);

/** The item that a claim is on. */
interface Claimed extends Pick<TakenItem, 'id' | 'payload'> {
  readonly key: string;
  readonly label?: string | undefined;
  /** The path of the item's znode. */
  readonly path: string;
}

/** A claim: the item belongs to this session for as long as the claim's own znode exists. */
class Claim implements TakenItem {
  readonly id: string;
  readonly payload: Buffer;
  readonly lease: GrantedLease;
  readonly #session: Session;
  readonly #contender: Contender;
  readonly #what: Claimed;
  readonly #leavingMs: number;
  /** Whether the caller of `ack()` was told that the claim is lost. It may put the item back after that. */
  #isGivenUp = false;

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

  async ack(): Promise<void> {
    const { key, path } = this.#what;
    if (!this.lease.isHeld()) throw lost(key);
    await whileCurrent(this.#session, this.#completed(), () => {
      this.#isGivenUp = true;
      throw lost(key);
    });
    leftBacklog(this.#session, path);
    void this.lease.release();
  }

  /** Deletes the item and the claim in one transaction, so that the item is never visible without its claim. */
  async #completed(): Promise<void> {
    let isInDoubt = false;
    const remove = () =>
      this.#remove().catch((error: unknown) => {
        isInDoubt ||= isConnectionLoss(error);
        throw error;
      });
    await this.#contender.leaveBy(() =>
      this.#session.surely(remove).catch((error: unknown) => this.#notRemoved(error, isInDoubt)),
    );
  }

  async #remove(): Promise<void> {
    const { key, path: item } = this.#what;
    if (this.#isGivenUp) throw lost(key);
    const ops = [item, this.#contender.path].map((path) => ({ type: 'delete', path }) as const);
    const { results } = await this.#session.requests.multi(ops);
    const failed = refusedAt(results);
    if (failed >= 0) throw new KeeperError(results[failed]?.error ?? ErrorCode.noNode, ops[failed]?.path);
  }

  /**
   * Handles a failed removal: the session is over, the claim is deleted, or the item was deleted by an earlier attempt
   * or another client.
   */
  async #notRemoved(error: unknown, isInDoubt: boolean): Promise<void> {
    const { key, path } = this.#what;
    if (error instanceof SessionEndedError) throw lost(key, error);
    if (!(error instanceof KeeperError) || error.code !== ErrorCode.noNode) throw error;
    if (error.path !== path) {
      this.#contender.foundGone();
      throw lost(key);
    }
    // In doubt, the claim may have gone with the item, and one of another client may be at its path.
    if (!isInDoubt || (await this.#isThere())) await this.#contender.leave(this.#leavingMs);
  }

  /** Whether the claim still exists. A claim that cannot be read is left to the end of its session. */
  async #isThere(): Promise<boolean> {
    const { path, czxid } = this.#contender;
    const found = this.#session.surely(() => this.#session.requests.read(path));
    return found.then(
      ({ stat }) => stat.czxid === czxid,
      () => false,
    );
  }
}

function lost(key: string, cause?: unknown): LockLostError {
  return new LockLostError(key, 'the item may have been delivered to somebody else', { cause });
}

/**
 * The values of one item, each of them settled separately. The item is deleted with the last of them. If one was
 * released instead, the whole item is delivered again. Curator's `putMulti` writes such items.
 */
function partsOf(whole: TakenItem, payloads: readonly Buffer[]): readonly TakenItem[] {
  let unsettled = payloads.length;
  let isWhole = true;
  const settle = async (isAcked: boolean): Promise<void> => {
    unsettled--;
    isWhole &&= isAcked;
    if (unsettled === 0) await (isWhole ? whole.ack() : whole.lease.release());
  };
  return payloads.map((payload, index) => partOf(whole, payload, `${whole.id}/${index}`, settle));
}

function partOf(
  { lease: whole }: TakenItem,
  payload: Buffer,
  id: string,
  settle: (isAcked: boolean) => Promise<void>,
): TakenItem {
  let isAcked = false;
  const { key, mode, fencingToken } = whole;
  const lease = new GrantedLease({
    key,
    mode,
    fencingToken,
    isCurrent: () => whole.isHeld(),
    giveBack: async () => {
      whole.removeFollower(lease);
      if (!isAcked) await settle(false);
    },
  });
  whole.addFollower(lease);
  const ack = async (): Promise<void> => {
    if (!lease.isHeld()) throw new LockLostError(key, 'the item may have been delivered to somebody else');
    isAcked = true;
    void lease.release();
    await settle(true);
  };
  return { id, payload, lease, ack };
}
