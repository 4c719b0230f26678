import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import type { EtcdLink } from '../client/etcd-link.js';
import { RefusedError, isUndecided } from '../client/etcd-error.js';
import type { Compare, Op, Txn, TxnOp } from '../wire/requests.js';
import type { Header, OpResult } from '../wire/responses.js';

/** A transaction that may share a request with others. */
export interface Change extends Txn {
  /**
   * The keys that it reads, compares or changes, or the beginning of all of them. No two changes about one key share a
   * request: they would be applied at one revision, and neither would see the other.
   */
  readonly about: readonly string[];
}

/**
 * Whether a change may have been applied although its answer was lost, or did not come in time. Requests keep it from one
 * session to the next.
 */
export interface Doubt {
  isSo: boolean;
}

/** The answer to a change. */
export interface Changed extends Header {
  /** Whether its conditions were met. */
  readonly isMet: boolean;
  readonly results: readonly OpResult[];
}

/** The key that proves that the session of a request is the present one. */
export interface Proof {
  readonly key: string;
  /** The revision at which the session was bound to its link. */
  readonly revision: number;
  readonly lease: bigint;
}

/** The session of a change is over, or is bound to another link. The change was not applied. */
export class NotBoundError extends Error {
  constructor() {
    super('the session is over, or bound to another connection');
    this.name = 'NotBoundError';
  }
}

interface Waiting {
  readonly change: Change;
  readonly doubt: Doubt | undefined;
  readonly answered: Deferred<Changed>;
}

/** The most operations, and the most conditions, of one transaction, with those inside it. The default of servers. */
export const MOST_OPERATIONS = 128;
const MOST_TOGETHER = 32;
const MOST_OPERATIONS_TOGETHER = 64;
const MOST_BYTES_TOGETHER = 256 * 1_024;

/**
 * Sends the changes of one turn of the event loop as one transaction. Each keeps its own conditions. A change is applied
 * only while the session is bound to this link: one that a server carries out late has no effect.
 */
export class Outbox {
  readonly #link: EtcdLink;
  readonly #proof: Proof;
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(link: EtcdLink, proof: Proof) {
    this.#link = link;
    this.#proof = proof;
  }

  /**
   * @param doubt is so when the change is sent again although it may have been applied
   * @throws NotBoundError, LinkLostError, RefusedError
   */
  send(change: Change, doubt?: Doubt): Promise<Changed> {
    const answered = deferred<Changed>();
    if (this.#waiting.length === 0) this.#flushSoon();
    this.#waiting.push({ change, doubt, answered });
    return answered.promise;
  }

  /** At the end of this step of the event loop, or of the whole turn while other requests take their time anyway. */
  #flushSoon(): void {
    if (this.#underWay === 0) process.nextTick(() => this.#flush());
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const batches = waiting.length > 1 ? batchesOf(waiting) : [waiting];
    for (const batch of batches) void this.#send(batch);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const [only, ...others] = batch;
    if (!only) return;
    this.#underWay++;
    try {
      if (others.length === 0) only.answered.resolve(await this.#alone(only.change));
      else await this.#together(batch);
    } catch (error) {
      if (error instanceof RefusedError && others.length > 0) this.#refused(batch, error);
      else batch.forEach(({ answered }) => answered.reject(error));
    } finally {
      this.#underWay--;
    }
  }

  /** A refusal of one change must not be that of the others. */
  #refused(batch: readonly Waiting[], error: RefusedError): void {
    for (const one of batch) {
      // A put that may have been applied is not made a second time. A full database accepts removals.
      if (isUndecided(error) && puts(one.change)) one.answered.reject(error);
      else {
        if (one.doubt && isUndecided(error)) one.doubt.isSo = true;
        void this.#send([one]);
      }
    }
  }

  async #together(batch: readonly Waiting[]): Promise<void> {
    const { key, lease } = this.#proof;
    const hasPuts = batch.some(({ change }) => puts(change));
    // A server whose database is full looks for writes in both branches, and not inside inner transactions.
    const { isMet, results, ...header } = await this.#link.txn({
      compare: [this.#isBound],
      success: batch.map(({ change }): TxnOp => ({ kind: 'txn', ...change })),
      failure: hasPuts
        ? [{ kind: 'put', key: `${key}-late`, value: '', lease }]
        : [{ kind: 'read', key, only: 'keys' }],
    });
    if (!isMet) throw new NotBoundError();
    batch.forEach(({ answered }, place) => {
      const answer = results[place];
      if (answer?.kind === 'txn') answered.resolve({ ...answer, ...header });
      else answered.reject(new RangeError('etcd left out the answer to a transaction'));
    });
  }

  /** Without a transaction inside another one, a request costs less on both sides. */
  async #alone({ compare, success, failure }: Change): Promise<Changed> {
    const { key, revision } = this.#proof;
    const answer = await this.#link.txn({
      compare: [this.#isBound, ...compare],
      success,
      // Tells whether it was the change's own condition that was not met.
      failure: [...failure, { kind: 'read', key, only: 'keys' }],
    });
    if (answer.isMet) return answer;
    const bound = answer.results.at(-1);
    if (bound?.kind !== 'read' || bound.found[0]?.modified !== revision) throw new NotBoundError();
    return { ...answer, results: answer.results.slice(0, -1) };
  }

  get #isBound(): Compare {
    const { key, revision } = this.#proof;
    return { key, property: 'modified', is: 'equal', than: revision };
  }
}

/** Divides changes into requests, in their order. Large changes travel alone. */
function batchesOf(waiting: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const batches: { members: Waiting[]; about: string[]; operations: number; bytes: number }[] = [];
  for (const one of waiting) {
    const { about, success } = one.change;
    const operations = operationsOf(one.change);
    const bytes = bytesOf(success);
    const fits = batches.find(
      (batch) =>
        batch.members.length < MOST_TOGETHER &&
        batch.operations + operations <= MOST_OPERATIONS_TOGETHER &&
        batch.bytes + bytes <= MOST_BYTES_TOGETHER &&
        !about.some((key) => batch.about.some((other) => key.startsWith(other) || other.startsWith(key))),
    );
    const batch = fits ?? { members: [], about: [], operations: 0, bytes: 0 };
    if (!fits) batches.push(batch);
    batch.members.push(one);
    batch.operations += operations;
    batch.bytes += bytes;
    batch.about.push(...about);
  }
  return batches.map(({ members }) => members);
}

function puts({ success }: Change): boolean {
  return success.some(({ kind }) => kind === 'put');
}

function operationsOf({ compare, success, failure }: Change): number {
  return Math.max(compare.length, success.length, failure.length);
}

function bytesOf(ops: readonly Op[]): number {
  return ops.reduce((sum, op) => sum + (op.kind === 'put' ? op.value.length : 0), 0);
}
