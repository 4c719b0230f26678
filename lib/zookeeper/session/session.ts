import { NEVER, orAbort, OwnAbortController } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import type { Place } from '../../async/collections.js';
import { quietDeferred } from '../../async/deferred.js';
import { Alarms, backoff, pause } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { SessionLeases } from '../../sessions/session-leases.js';
import { isConnectionLoss, isPassing } from '../client/keeper-error.js';
import type { Answer, Handshake, SessionEnd, ZooKeeperClient } from '../client/zookeeper-client.js';
import { Heartbeat, SessionNodes } from './heartbeat.js';
import type { OwnNode } from './heartbeat.js';
import { LeaseClock } from './lease-clock.js';
import type { Requests } from './requests.js';

const FRESH_SHARE = 1 / 6;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * One ZooKeeper session, from its first handshake to its end. It is the only connected object that recipes use. Znodes
 * and leases are registered here and are notified when they are lost. A session that has ended is never used again.
 */
export class Session {
  readonly id: bigint;
  readonly requests: Requests;
  /** For limits that are hardly ever reached. */
  readonly alarms = new Alarms();
  readonly #nodes = new SessionNodes();
  readonly #clock: LeaseClock;
  readonly #heartbeat: Heartbeat;
  readonly #leases: SessionLeases;
  readonly #end = new OwnAbortController();
  /** Aborts with a `SessionEndedError` when the session is over. */
  readonly signal: AbortSignal = this.#end.signal;
  /** The beat on which callers wait that need a proof, and the pause after it. */
  #beating: Promise<void> | undefined;
  #connection = quietDeferred();
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

  /** The session timeout in milliseconds that the servers granted last. */
  get timeoutMs(): number {
    return this.#clock.timeoutMs;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The number of connection losses so far. Results from another epoch were received over another connection. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether the session is certain not to have expired at this instant. */
  get isCurrent(): boolean {
    return !this.#end.signal.aborted && now() < this.#clock.deadline;
  }

  /** The number of leases of this session. */
  get leases(): number {
    return this.#leases.size;
  }

  /** The milliseconds for which the session is certain not to expire. */
  get leftMs(): number {
    return this.#clock.deadline - now();
  }

  /** Resolves while a server is connected. Rejects when the session is over or `signal` aborts. */
  whenConnected(signal: AbortSignal = NEVER): Promise<void> {
    return orAbort(this.#connection.promise, signal);
  }

  /** Repeats the request whenever the connection is lost before its reply, until `signal` aborts. */
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

  /**
   * Like `persistently`, and also retries after transient refusals such as throttling. For requests that must be
   * carried out.
   */
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
    return !this.#end.signal.aborted && this.#clock.deadline - now() >= this.#clock.timeoutMs * FRESH_SHARE;
  }

  /** Resolves once the session is proven. Callers that wait at the same time share the beats. */
  async proven(signal: AbortSignal): Promise<void> {
    while (!this.isProven) {
      this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
      await orAbort(this.#beating, signal);
    }
  }

  async #beat(): Promise<void> {
    await this.whenConnected();
    await orAbort(this.#heartbeat.beat(), this.signal);
    await pause(this.timeoutMs / 20, this.signal);
  }

  /** Registers a znode to be checked, until it leaves its place. It is notified when a heartbeat finds it deleted. */
  track(node: OwnNode): Place<OwnNode> {
    return this.#nodes.join(node);
  }

  /** Ties a lease to this session, until it leaves its place. After the session's end the lease is lost at once. */
  carry(lease: GrantedLease): Place<GrantedLease> {
    if (!this.#isConnected) lease.suspend();
    const place = this.#leases.add(lease);
    if (this.#end.signal.aborted) this.#loseLeases();
    return place;
  }

  /** Records that a server resumed the session. */
  connected(handshake: Handshake): void {
    this.#clock.reattached(handshake.timeoutMs, handshake.sentAt, now());
    this.#isUp(handshake);
    // The handshake counts only with the first transaction after it, so one is sent now.
    void this.#heartbeat.beat();
  }

  disconnected(): void {
    if (this.#end.signal.aborted) return;
    this.#isConnected = false;
    this.#epoch++;
    this.#connection = quietDeferred();
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
    this.alarms.clear();
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
