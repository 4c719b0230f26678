import { NEVER, orAbort, OwnAbortController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { backoff, pause } from '../../async/timer.js';
import { now } from '../../async/clock.js';
import { deferred } from '../../async/deferred.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { isConnectionLoss, isPassing } from '../client/keeper-error.js';
import type { Answer, Handshake, SessionEnd, ZooKeeperClient } from '../client/zookeeper-client.js';
import { Heartbeat } from './heartbeat.js';
import { LeaseClock } from './lease-clock.js';
import type { Requests } from './requests.js';
import { SessionEndedError } from './requests.js';
import { SessionLeases } from './session-leases.js';
import { SessionNodes } from './session-nodes.js';
import type { OwnNode } from './session-nodes.js';

const FRESH_SHARE = 1 / 6;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * One ZooKeeper session, from its first handshake to its end: the only live thing under the recipes. Znodes and
 * leases register here and are told when they are gone. A session that has ended is never used again.
 */
export class Session {
  readonly id: bigint;
  readonly requests: Requests;
  readonly #nodes = new SessionNodes();
  readonly #clock: LeaseClock;
  readonly #heartbeat: Heartbeat;
  readonly #leases: SessionLeases;
  readonly #end = new OwnAbortController();
  #connection = deferred();
  #isConnected = false;
  #epoch = 0;

  constructor(client: ZooKeeperClient, handshake: Handshake) {
    this.id = handshake.sessionId;
    this.requests = client;
    this.#clock = new LeaseClock(handshake.timeoutMs, handshake.sentAt);
    this.#leases = new SessionLeases(() => this.#clock.deadline);
    this.#heartbeat = new Heartbeat(client, this.#nodes, () => this.#leases.check());
    this.#isUp(handshake);
  }

  /** Aborts with a `SessionEndedError` when the session is over. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** The session timeout in milliseconds that the servers granted last. */
  get timeoutMs(): number {
    return this.#clock.timeoutMs;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** How often the connection was lost: what was learned in another epoch came over another connection. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether the session's znodes are surely its own at this instant. */
  get isCurrent(): boolean {
    return !this.#end.signal.aborted && now() < this.#clock.deadline;
  }

  /** How many leases stand on it. */
  get leases(): number {
    return this.#leases.size;
  }

  /** For how long its znodes are surely its own. */
  get leftMs(): number {
    return this.#clock.deadline - now();
  }

  /** Resolves while a server is connected; rejects when the session is over or `signal` aborts. */
  whenConnected(signal: AbortSignal = NEVER): Promise<void> {
    return orAbort(this.#connection.promise, signal);
  }

  /** Makes the request again while the connection is lost before its answer, until `signal` aborts. */
  async persistently<T>(request: () => Promise<T>, signal: AbortSignal = NEVER): Promise<T> {
    for (;;) {
      if (!this.#isConnected || signal.aborted) await this.whenConnected(signal);
      try {
        return await orAbort(request(), signal);
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
    }
  }

  /** As `persistently`, and also through refusals that pass, such as throttling. For what must not be left undone. */
  async surely<T>(request: () => Promise<T>): Promise<T> {
    const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (;;) {
      try {
        return await this.persistently(request);
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
      await pause(pauses.next(), this.signal);
    }
  }

  /** Whether the session is proven for long enough to begin a lease on it. */
  get isProven(): boolean {
    return !this.#end.signal.aborted && this.#clock.deadline - now() >= this.timeoutMs * FRESH_SHARE;
  }

  /** Resolves once it is. */
  async proven(signal: AbortSignal): Promise<void> {
    while (!this.isProven) {
      await this.whenConnected(signal);
      await orAbort(this.#heartbeat.beat(), signal);
      await pause(this.timeoutMs / 20, signal);
    }
  }

  /** Calls back once, when a heartbeat finds the znode gone. */
  attend(node: OwnNode): Dispose {
    return this.#nodes.attend(node);
  }

  /** Ties a lease to this session's life; after the session's end the lease is lost at once. */
  carry(lease: GrantedLease): Dispose {
    if (!this.#isConnected) lease.suspend();
    const dispose = this.#leases.add(lease);
    if (this.#end.signal.aborted) this.#loseLeases();
    return dispose;
  }

  /** A server took the session up again. */
  connected(handshake: Handshake): void {
    this.#clock.reattached(handshake.timeoutMs, handshake.sentAt, now());
    this.#isUp(handshake);
    // What the handshake is worth shows with the first transaction behind it.
    void this.#heartbeat.beat();
  }

  disconnected(): void {
    if (this.#end.signal.aborted) return;
    this.#isConnected = false;
    this.#epoch++;
    this.#connection = deferred();
    this.#connection.promise.catch(() => {});
    this.#leases.check();
    this.#leases.suspend();
  }

  answered({ sentAt, receivedAt, isQuorum }: Answer): void {
    this.#clock.answered(sentAt, receivedAt, isQuorum);
    if (receivedAt >= this.#clock.deadline) this.#leases.check();
  }

  ended(why: SessionEnd): void {
    if (this.#end.signal.aborted) return;
    if (this.#isConnected) this.disconnected();
    const reason = new SessionEndedError(why);
    this.#heartbeat.stop();
    this.#end.abort(reason);
    this.#connection.reject(reason);
    this.#loseLeases();
  }

  #loseLeases(): void {
    const { why } = this.#end.signal.reason as SessionEndedError;
    this.#leases.lose(`the session is over (${why})`);
  }

  #isUp({ timeoutMs }: Handshake): void {
    this.#isConnected = true;
    this.#heartbeat.start(timeoutMs);
    this.#leases.check();
    this.#leases.resume();
    this.#connection.resolve();
  }
}
