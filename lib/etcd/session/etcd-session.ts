import { NEVER, orAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { LinkedList } from '../../async/collections.js';
import { deferred, quietDeferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { Alarms, orLateAbort, untilDone } from '../../async/timer.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { provenUntil, SessionLeases } from '../../sessions/session-leases.js';
import { isUndecided, LinkLostError, RefusedError } from '../client/etcd-error.js';
import type { EtcdLink } from '../client/etcd-link.js';
import type { ReadOp } from '../wire/requests.js';
import type { Header, ReadResult } from '../wire/responses.js';
import type { EtcdKeys } from './etcd-keys.js';
import { NotBoundError, Outbox } from './outbox.js';
import type { Change, Changed, Doubt, Proof } from './outbox.js';

/** A call that makes a change. */
export interface ChangeCall {
  readonly signal?: AbortSignal;
  readonly doubt?: Doubt;
  /** Whether a lost answer is an error, and no reason to send the change again. */
  readonly isOnce?: boolean;
  /** The time for which the answer still counts after the signal has aborted, in milliseconds. Default 0 */
  readonly lateMs?: number;
  /** Settles when the change that was sent last is applied, or cannot be applied any more. */
  sent?: Promise<unknown>;
}

/** A call that has to know whether its change may have been applied when it fails. */
export interface DoubtedCall extends ChangeCall {
  readonly signal: AbortSignal;
  readonly doubt: Doubt;
}

/** A link that carries the requests of a session. */
interface Bound {
  readonly link: EtcdLink;
  readonly outbox: Outbox;
  /** Settles when the session is cut off from the link. */
  readonly ended: Deferred<void>;
}

interface SessionOptions {
  readonly keys: EtcdKeys;
  /** The time that the servers gave the lease. */
  readonly timeoutMs: number;
  /** When the request for the lease was sent, on `now()`. */
  readonly provenAt: number;
  /** Called when something says that the session may be over. */
  readonly onDoubt: () => void;
}

/**
 * The lease of this process on the servers: the identity of its entries, which end with it. It ends when the servers
 * have ended it, or when it was not proven in time.
 */
export class EtcdSession {
  /** The alarms of the session's holds. */
  readonly alarms = new Alarms();
  /** The leases of the session's holds. */
  readonly leases = new SessionLeases(() => this.deadline);
  readonly id: string;
  /** The key that proves that the lease lives. */
  readonly key: string;
  readonly keys: EtcdKeys;
  readonly #onEnd = new LinkedList<(error: SessionEndedError) => void>();
  readonly #onDoubt: () => void;
  #timeoutMs: number;
  #provenAt: number;
  #bound: Bound | undefined;
  #linked: Deferred<void> = quietDeferred();
  #numbers = 0;
  /** The names of entries that are gone. */
  readonly #freeNames: string[] = [];
  #over: SessionEndedError | undefined;

  constructor(
    readonly lease: bigint,
    { keys, timeoutMs, provenAt, onDoubt }: SessionOptions,
  ) {
    this.id = BigInt.asUintN(64, lease).toString(16);
    this.key = keys.session(this.id);
    this.keys = keys;
    this.#timeoutMs = timeoutMs;
    this.#provenAt = provenAt;
    this.#onDoubt = onDoubt;
  }

  /** The time that the servers gave the lease, in milliseconds. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /**
   * The deadline until which the servers cannot have ended the lease, on `now()`. It counts from the sending of the last
   * renewal that was proven: the servers count from when they received it.
   */
  get deadline(): number {
    return provenUntil(this.#provenAt, this.#timeoutMs);
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  get isLinked(): boolean {
    return this.#bound !== undefined;
  }

  /** Returns a name that this session has never used. */
  newName(): string {
    return `${this.id}-${++this.#numbers}`;
  }

  /**
   * Returns a name for an entry of a wait queue. Names are used again: a server that reads a queue goes through all names
   * that were in it since the last compaction.
   */
  takeName(): string {
    return this.#freeNames.pop() ?? this.newName();
  }

  /** Ends the use of a name of `takeName`, once. @param key the entry: it does not exist, and no request can create it */
  giveNameBack(key: string): void {
    this.#freeNames.push(key.slice(key.lastIndexOf('/') + 1));
  }

  /** Counts a renewal that was proven. @param sentAt when it was sent, on `now()` @param ttl the seconds it was given */
  proven(sentAt: number, ttl: number): void {
    this.#provenAt = Math.max(this.#provenAt, sentAt);
    this.#timeoutMs = Math.min(this.#timeoutMs, ttl * 1_000);
    this.leases.check();
  }

  /** Requests go over this link from now on, and those that were lost are made again. */
  linkedBy(link: EtcdLink, proof: Proof): void {
    this.#bound = { link, outbox: new Outbox(link, proof), ended: deferred() };
    this.#linked.resolve();
    this.leases.resume();
  }

  cut(): void {
    if (!this.#bound) return;
    this.#bound.ended.resolve();
    this.#bound = undefined;
    this.#linked = quietDeferred();
    this.leases.check();
    this.leases.suspend();
  }

  /** Ends the session: its requests reject, and its leases are lost. */
  end(why: string): void {
    if (this.#over) return;
    this.cut();
    this.#over = new SessionEndedError(why);
    this.#linked.reject(this.#over);
    for (let listener = this.#onEnd.shift(); listener; listener = this.#onEnd.shift()) listener(this.#over);
    this.alarms.clear();
    this.leases.close(why);
  }

  /** Calls back when the session ends, or at once if it is over, unless disposed before. */
  onEnd(listener: (error: SessionEndedError) => void): Dispose {
    if (this.#over) listener(this.#over);
    const place = this.#onEnd.join(listener);
    return () => void place.leave();
  }

  /**
   * Makes a change, again after a connection was lost without its answer.
   * @throws SessionEndedError, RefusedError, `signal.reason`, and LinkLostError when it is to be sent once
   */
  change(change: Change, call: ChangeCall = {}): Promise<Changed> {
    const send = ({ outbox }: Bound) => {
      const sent = outbox.send(change, call.doubt);
      call.sent = sent;
      return sent;
    };
    return this.#run(send, call);
  }

  /**
   * Reads ranges at one moment. A majority confirms that it is the present one.
   * @throws SessionEndedError, RefusedError, `signal.reason`
   */
  async read(
    reads: readonly ReadOp[],
    signal?: AbortSignal,
  ): Promise<Header & { readonly results: readonly ReadResult[] }> {
    const [only, ...others] = reads;
    const options = signal ? { signal } : {};
    if (only && others.length === 0) {
      const { revision, term, ...result } = await this.#run(({ link }) => link.range(only), options);
      return { revision, term, results: [result] };
    }
    const txn = { compare: [], success: reads, failure: [] };
    const { results, revision, term } = await this.#run(({ link }) => link.txn(txn), options);
    return { revision, term, results: results.flatMap((result) => (result.kind === 'read' ? result : [])) };
  }

  /** Removes keys. Resolves when they are gone, or gone with the session. Never rejects, and is repeated until then. */
  remove(keys: readonly string[]): Promise<void> {
    const success = keys.map((key) => ({ kind: 'delete', key }) as const);
    return this.persistently(() => this.change({ about: keys, compare: [], success, failure: [] }));
  }

  /** Repeats what a server may refuse, until it is done or the session is over. Never rejects. */
  persistently(ask: () => Promise<unknown>): Promise<void> {
    return untilDone(ask, () => this.isOver);
  }

  /** Removes an entry, and gives its name back. Resolves and ends as `remove`. */
  async removeEntry(key: string): Promise<void> {
    await this.remove([key]);
    this.giveNameBack(key);
  }

  async #run<T>(
    ask: (bound: Bound) => Promise<T>,
    { signal = NEVER, doubt = { isSo: false }, isOnce = false, lateMs = 0 }: ChangeCall,
  ): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      this.#throwIfOver();
      const bound = this.#bound;
      if (!bound) {
        await orAbort(this.#linked.promise, signal);
        continue;
      }
      try {
        const asked = ask(bound);
        const answer = await (lateMs > 0 ? orLateAbort(asked, signal, lateMs) : orAbort(asked, signal));
        // An answer that is not passed on is as good as lost.
        if (this.#over) doubt.isSo = true;
        this.#throwIfOver();
        return answer;
      } catch (error) {
        if (error instanceof LinkLostError) {
          doubt.isSo = true;
          if (this.#bound === bound) this.cut();
          if (isOnce) throw error;
        } else if (isEnding(error)) {
          // The heartbeat finds out what has become of the session. It ends the session, or the link.
          if (this.#bound === bound) this.#onDoubt();
          await orAbort(bound.ended.promise, signal);
        } else {
          if (signal.aborted && error === signal.reason) doubt.isSo = true;
          throw error;
        }
      }
    }
  }

  #throwIfOver(): void {
    if (this.#over) throw this.#over;
  }
}

/** Whether an error of a change says that it was not applied, and will not be. */
export function isRefusal(error: unknown, doubt: Doubt): boolean {
  return error instanceof RefusedError && !isUndecided(error) && !doubt.isSo;
}

/** Whether an error says that the session is over, or was bound to another link meanwhile. */
function isEnding(error: unknown): boolean {
  return error instanceof NotBoundError || (error instanceof RefusedError && error.isLeaseGone);
}
