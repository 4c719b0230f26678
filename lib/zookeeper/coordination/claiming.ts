import { nameOf } from '../../contract/keyed-request.js';
import { randomUUID } from 'node:crypto';
import type { TakenItem, QueueTakeRequest } from '../../contract/queues.js';
import { contenderData, contenderId } from '../recipes/contender-data.js';
import { createDirectory } from '../recipes/create-node.js';
import { refusedAt } from '../recipes/refusal.js';
import { CreateMode, ErrorCode, isConnectionLoss, KeeperError } from '../session/requests.js';
import type { MultiOp, MultiResult, Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { leftBacklog } from './backlog.js';
import { Claim } from './claim.js';
import { partsOf } from './claim-parts.js';
import { readItemData } from './queue-data.js';
import type { QueuePlace } from './queue-place.js';

interface ItemNode {
  readonly data: Buffer;
  readonly stat: Stat;
}

/** What became of an attempt: the zxid of the claims, the name that somebody else has, or that it may be made again. */
type Outcome = { readonly zxid: bigint } | { readonly missed: string; readonly isGone: boolean } | 'again';

/** One caller's claims on items. Not cut short by the caller's signal: who gives up has to know what to put back. */
export class Claiming {
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
   * Claims the first of these items, all of one attempt or none.
   * @param attempts `'once'`: none when somebody else has one of the first; `'any'`: then the next ones
   * @param fewest none when fewer are left
   */
  async of(free: readonly string[], attempts: 'once' | 'any', fewest = 1): Promise<readonly TakenItem[]> {
    let names = free;
    while (names.length >= fewest) {
      const first = names.slice(0, this.#request.atMost);
      const attempt = this.#attempt(first);
      // Behind it: an item that was read before it was claimed may be another one of the same name by then.
      const reading = first.map((name) => this.#read(name).catch(() => undefined));
      const outcome = await attempt;
      if (outcome === 'again') continue;
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

  /** After a lost reply: the claims, if they were made. */
  async #find([first = '']: readonly string[]): Promise<Outcome> {
    const path = `${this.#place.claims.path}/${first}`;
    const { requests } = this.#session;
    // The server now connected may not have heard of the claims yet; after a sync it has, or never will.
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
    // Removed by one who does not look at claims, or an item of nothing.
    if (!node || payloads.length === 0) claim.ack().catch(() => {});
    return node ? partsOf(claim, payloads) : [];
  }

  async #read(name: string): Promise<ItemNode> {
    return this.#session.requests.read(`${this.#place.items.path}/${name}`);
  }
}

const EMPTY = Buffer.alloc(0);
