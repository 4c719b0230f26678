import { anyAbort, NEVER, orAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { after, afterSilence, backoff, orTimeout, settledWithin } from '../../async/timer.js';
import {
  LockConfigurationError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../contract/errors.js';
import type { BackendState } from '../../contract/lock-backend.js';
import type { BackendVitals } from '../../contract/survey.js';
import { explained, isWrongServer, refusalOf } from '../client/redis-error.js';
import { RedisLink } from '../client/redis-link.js';
import type { LinkClients } from '../client/redis-link.js';
import { BYE, JOIN } from '../scripts/session-scripts.js';
import { adopt } from './adoption.js';
import { newSessionId } from './entry.js';
import type { RedisKeys } from './redis-keys.js';
import { RedisSession } from './redis-session.js';
import type { Answer } from './redis-session.js';
import { Renewal } from './renewal.js';
import { checkServer } from './server-check.js';
import type { Durability } from './server-durability.js';
import { durabilityOf, UNKNOWN_DURABILITY } from './server-durability.js';
import type { SessionReport } from './session-report.js';
import { Topics } from './topics.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;
const GOODBYE_MS = 1_000;

/** The settings of the sessions of one backend. */
export interface SessionSettings {
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly restartDelayMs: number;
  readonly allowEviction: boolean;
  /** Whether the server is known to have replicas. */
  readonly isReplicated: boolean;
  /** Whether the server is a node of a cluster, so that another one may serve the keys soon. */
  readonly isCluster: boolean;
  /** The number of shards that all processes must have. */
  readonly shards: number;
}

/** Opens the clients of a link. */
export type OpenClients = (limitMs: number) => LinkClients | Promise<LinkClients>;

/**
 * Keeps one session open, over one link after the other. A session that is over is followed by the next one, which
 * adopts the holds of a session whose server turned out to be another one.
 */
export class RedisSessions {
  readonly topics = new Topics();
  readonly report: SessionReport;
  readonly #settings: SessionSettings;
  readonly #openClients: OpenClients;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #link: RedisLink | undefined;
  #session: RedisSession | undefined;
  /** Former sessions whose holds are not adopted yet. */
  #former: RedisSession[] = [];
  #renewal: Renewal | undefined;
  #connected: Deferred<RedisSession> = awaited();
  #isConnected = false;
  #hasStarted = false;
  #hasLost = false;
  #isClosed = false;
  /** The identity of the last server that a session was begun on; '' before the first. */
  #known = '';
  #durability = UNKNOWN_DURABILITY;
  #lastError: unknown;
  /** The time at which the server of the session grants free keys, or granted them. */
  #settledAt = 0;
  #cancelNext: Dispose = () => {};

  constructor(
    readonly keys: RedisKeys,
    settings: SessionSettings,
    openClients: OpenClients,
    report: SessionReport,
  ) {
    this.#settings = settings;
    this.#openClients = openClients;
    this.report = report;
  }

  get state(): BackendState {
    if (this.#isConnected) return 'connected';
    return this.#hasLost || this.#isClosed ? 'lost' : 'suspended';
  }

  /** The session and its server, in numbers. Asks no server. */
  get vitals(): BackendVitals {
    const session = this.#session;
    return {
      sessionId: session?.id,
      sessionTimeoutMs: session && this.#settings.sessionTimeoutMs,
      marginMs: session && Math.max(0, session.deadline - now()),
      server: this.#isConnected ? this.report.server : undefined,
    };
  }

  /** Whether the server that answered last can forget applied writes. */
  get durability(): Durability {
    return this.#durability;
  }

  /** The time for which the server that answered last grants no free key yet, in milliseconds. */
  get settlingMs(): number {
    return Math.max(0, Math.ceil(this.#settledAt - now()));
  }

  /** The session, while a server answers. */
  get connected(): RedisSession | undefined {
    return this.#isConnected ? this.#session : undefined;
  }

  /** The time after which an unanswered renewal ends a link: two of them are a third of the session timeout. */
  get answerMs(): number {
    return Math.round(this.#settings.sessionTimeoutMs / 6);
  }

  /**
   * The longest time from the first sending of a request that does not wait to its last run on the server. A session
   * that runs it late has renewals that are as late: each at most one session timeout.
   */
  get repeatableMs(): number {
    const { connectTimeoutMs, sessionTimeoutMs } = this.#settings;
    return connectTimeoutMs + 2 * sessionTimeoutMs;
  }

  /** The longest time without looking at something that is waited for: a message may be lost. */
  get lookEveryMs(): number {
    return Math.round(this.#settings.sessionTimeoutMs / 3);
  }

  /**
   * Returns the connected session, or waits for the next one.
   * @param key what the session is for, for the error
   * @throws LockUnavailableError after `connectTimeoutMs` without a server; LockConfigurationError; `signal.reason`
   */
  async session(signal: AbortSignal = NEVER, key?: string): Promise<RedisSession> {
    if (this.#isClosed) throw new LockShutdownError(key);
    this.#start();
    const { connectTimeoutMs } = this.#settings;
    const unavailable = () => this.unavailable(connectTimeoutMs, key);
    const connected = orTimeout(this.#connected.promise, connectTimeoutMs, unavailable);
    return orAbort(connected, signal).catch((error: unknown) => {
      // The time was not spent behind another contender: no server was asked. So this is not a lock timeout.
      throw error === signal.reason && error instanceof LockTimeoutError ? this.unavailable(error.waitMs, key) : error;
    });
  }

  /**
   * Runs `work` with a signal. It aborts with `given`'s reason, or after `connectTimeoutMs` because no server answers.
   * @param key what the work is about, for the error
   */
  async inTime<T>(work: (signal: AbortSignal) => Promise<T>, given: AbortSignal, key: string): Promise<T> {
    const { connectTimeoutMs } = this.#settings;
    const limit = new AbortController();
    const cancel = after(connectTimeoutMs, () => limit.abort(this.unavailable(connectTimeoutMs, key)));
    const limits = anyAbort([given, limit.signal]);
    return work(limits.signal).finally(() => {
      cancel();
      limits.dispose();
    });
  }

  /** The error for a caller whose request no server answered. @param key what the caller asked for */
  unavailable(waitedMs: number, key?: string): LockUnavailableError {
    const about = key === undefined ? '' : `"${key}": `;
    const hint = this.#lastError instanceof Error ? ` (${this.#lastError.message})` : '';
    const cause = this.#lastError;
    return new LockUnavailableError(`${about}no Redis server answered within ${waitedMs} ms${hint}`, { key, cause });
  }

  /** Ends the leases, removes the entries of the session, and ends it. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelNext();
    this.#isConnected = false;
    this.#connected.reject(new LockShutdownError());
    const session = this.#session;
    // Nothing is believed any more before the entries are gone: then others hold the keys.
    session?.leases.close('closed');
    this.#former.forEach((former) => former.leases.close('closed'));
    if (session?.isLinked) {
      const goodbye = session.leaveAll().then(() => session.run(BYE, [], []));
      await settledWithin(goodbye, GOODBYE_MS);
    }
    this.#renewal?.stop();
    session?.end('closed');
    this.#link?.close('closed');
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    void this.#open();
  }

  /** Opens a link and brings a session onto it. Never rejects: the next attempt follows after a pause. */
  async #open(): Promise<void> {
    try {
      const limitMs = Math.min(this.#settings.connectTimeoutMs, Math.max(this.answerMs, 100));
      const clients = await this.#openClients(limitMs);
      const link = new RedisLink(clients, (error) => this.#closed(link, error));
      this.#link = link;
      if (this.#isClosed) return link.close('closed');
      await link.open(limitMs);
      await this.#answering(link, this.#begin(link));
    } catch (error) {
      this.#failed(error);
    }
  }

  async #begin(link: RedisLink): Promise<void> {
    this.report.warn(await checkServer(link, this.#settings));
    this.#durability = await durabilityOf(link, this.#settings.isReplicated);
    const session = this.#session;
    if (session && session.deadline <= now()) this.#ended(session, 'it was not renewed in time');
    if (this.#session) await this.#resume(this.#session, link);
    else await this.#join(link);
  }

  /** Continues a session on another link. */
  async #resume(session: RedisSession, link: RedisLink): Promise<void> {
    await link.subscribe(session.channel, (message) => this.#received(session, message));
    session.nextLinkNumber();
    const renewal = this.#newRenewal(session, link);
    const answer = await renewal.renew();
    if (answer === 'ALIVE') this.#linked(session, link, renewal);
    else await this.#follow(session, link, answer);
  }

  /** Begins the session that follows one that is over. */
  async #follow(session: RedisSession, link: RedisLink, why: Answer[0]): Promise<void> {
    if (this.#session !== session) return;
    this.#disconnected();
    link.unsubscribe(session.channel);
    if (why === 'LATE') {
      const keys = [this.keys.sessions, this.keys.server];
      await link.run({ script: BYE, keys, values: [session.server, session.id, session.linkNumber] });
    }
    if (why === 'NEWSERVER') {
      this.#former.push(session);
      this.#session = undefined;
      session.end('the server was restarted, or another one took its place', 'kept');
      this.report.replaced();
    } else this.#ended(session, why === 'LATE' ? 'it was not renewed in time' : 'the server has ended it');
    await this.#join(link);
  }

  async #join(link: RedisLink): Promise<void> {
    const { sessionTimeoutMs, restartDelayMs, shards } = this.#settings;
    const id = newSessionId();
    await link.subscribe(this.keys.channel(id), (message) => this.#received(session, message));
    const provenAt = now();
    const keys = [this.keys.sessions, this.keys.server];
    const values = [this.#known, id, sessionTimeoutMs, restartDelayMs, shards];
    const reply = await link.run({ script: JOIN, keys, values });
    const [word, others] = reply as [string, string];
    if (word === 'SHARDS') throw otherShards(shards, others);
    const [, server, settlingMs, serverTime] = reply as [string, string, number, string];
    const proof = { timeoutMs: sessionTimeoutMs, provenAt, serverTime: Number(serverTime) };
    const session = new RedisSession(id, server, this.keys, proof, { doubted: () => this.#renewal?.hurry() });
    this.#session = session;
    this.#known = server;
    this.#settledAt = now() + settlingMs;
    this.report.joined(settlingMs);
    this.#linked(session, link, this.#newRenewal(session, link));
  }

  #newRenewal(session: RedisSession, link: RedisLink): Renewal {
    const { sessionTimeoutMs } = this.#settings;
    this.#renewal?.stop();
    this.#renewal = new Renewal(session, link, { sessionTimeoutMs, everyMs: this.answerMs }, (why) => {
      this.#answering(link, this.#follow(session, link, why)).catch((error: unknown) => this.#failed(error));
    });
    return this.#renewal;
  }

  /** Settles as the work does. The link is closed if the server is silent for too long meanwhile: nothing else looks. */
  #answering(link: RedisLink, work: Promise<void>): Promise<void> {
    return work.finally(afterSilence(this.answerMs * 2, () => link.close('the server does not answer')));
  }

  #linked(session: RedisSession, link: RedisLink, renewal: Renewal): void {
    if (link.isClosed || this.#isClosed) return;
    renewal.start();
    this.#isConnected = true;
    this.#hasLost = false;
    this.#lastError = undefined;
    this.#pauses.reset();
    session.linkedBy(link);
    this.topics.linkedBy(link);
    this.#former = this.#former.filter(({ leases }) => leases.size > 0);
    for (const former of this.#former) void adopt(former, session);
    this.report.connected(session.id, this.#settings.sessionTimeoutMs);
    this.#connected.resolve(session);
  }

  #received(session: RedisSession, message: string): void {
    if (message === 'b') this.#renewal?.beat();
    else session.received(message);
  }

  #ended(session: RedisSession, why: string): void {
    this.#session = undefined;
    this.#hasLost = true;
    session.end(why);
    this.report.ended(session.id, why);
  }

  #closed(link: RedisLink, error: Error): void {
    if (this.#link !== link) return;
    this.#session?.cut();
    if (this.#isConnected) this.report.disconnected(error, this.#session);
    this.#disconnected();
    this.#failed(error);
  }

  // Callers that wait already keep waiting for the same promise.
  #disconnected(): void {
    this.#renewal?.stop();
    if (this.#isConnected) this.#connected = awaited();
    this.#isConnected = false;
  }

  /** Tries again later. Callers that wait are told at once of errors that only other settings end. */
  #failed(error: unknown): void {
    if (this.#isClosed) return;
    this.#lastError = refusalOf((error as { cause?: unknown }).cause ?? error);
    const explanation = explained(this.#lastError);
    // A server that served writes before, or a node of a cluster, is being replaced by another one.
    const isPassing = (this.#settings.isCluster || this.#known !== '') && isWrongServer(this.#lastError);
    if (explanation instanceof LockConfigurationError && !isPassing) {
      this.#connected.reject(explanation);
      this.#connected = awaited();
    }
    this.#link?.close('another attempt follows', error);
    this.#cancelNext();
    this.#cancelNext = after(this.#pauses.next(), () => void this.#open());
  }
}

function otherShards(own: number, others: string): LockConfigurationError {
  return new LockConfigurationError(
    `shards is ${own} here and ${others} in the processes that are connected: a key must belong to the same shard in ` +
      'all of them. Set the same number, or stop all of them first',
  );
}

/** Returns a deferred whose rejection is not reported as unhandled when nothing waits for it. */
function awaited(): Deferred<RedisSession> {
  const session = deferred<RedisSession>();
  session.promise.catch(() => {});
  return session;
}
