import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, afterSilence, backoff, settledWithin } from '../../async/timer.js';
import { LockConfigurationError } from '../../contract/errors.js';
import type { BackendVitals } from '../../contract/survey.js';
import { BackendSessions } from '../../sessions/backend-sessions.js';
import { explained, isWrongServer, refusalOf } from '../client/redis-error.js';
import { RedisLink } from '../client/redis-link.js';
import type { LinkClients } from '../client/redis-link.js';
import { flag } from '../client/script.js';
import { BYE, JOIN } from '../scripts/session-scripts.js';
import { adopt } from './adoption.js';
import { newSessionId } from './entry.js';
import type { RedisKeys } from './redis-keys.js';
import { RedisSession } from './redis-session.js';
import type { Answer, QueuePlace } from './redis-session.js';
import { Renewal } from './renewal.js';
import { checkServer } from './server-check.js';
import type { Durability } from './server-durability.js';
import { durabilityOf, UNKNOWN_DURABILITY } from './server-durability.js';
import type { RedisReport } from './session-report.js';
import { Sweeps } from './sweep.js';
import { Topics } from './topics.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;
/** The time that a server has to answer at first, while no lease is at stake: many processes may start at once. */
const OPEN_MS = 1_000;
const GOODBYE_MS = 1_000;

/** The settings of the sessions of one backend. */
export interface SessionSettings {
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly restartDelayMs: number;
  /** Whether it is an operator's command, which has no say in the delay and in the number of shards. */
  readonly isObserver?: boolean | undefined;
  readonly allowEviction: boolean;
  readonly plainLocks: boolean;
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
export class RedisSessions extends BackendSessions<RedisSession> {
  readonly topics = new Topics();
  readonly report: RedisReport;
  readonly #settings: SessionSettings;
  readonly #openClients: OpenClients;
  readonly #sweeps: Sweeps;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #link: RedisLink | undefined;
  #session: RedisSession | undefined;
  /** The last session that this process has ended, for the server, which may not know; '' when it knows. */
  #overdue = '';
  /** Former sessions whose holds are not adopted yet. */
  #former: RedisSession[] = [];
  /** The places of sessions whose leases are lost. Nobody else may ever touch their keys. */
  #abandoned: QueuePlace[] = [];
  #renewal: Renewal | undefined;
  #hasStarted = false;
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
    report: RedisReport,
  ) {
    super('Redis', settings.connectTimeoutMs);
    this.#settings = settings;
    this.#openClients = openClients;
    this.report = report;
    this.#sweeps = new Sweeps((message) => report.warn([message]));
  }

  /** The session and its server, in numbers. Asks no server. */
  get vitals(): BackendVitals {
    const session = this.#session;
    return {
      sessionId: session?.id,
      sessionTimeoutMs: session && this.#settings.sessionTimeoutMs,
      marginMs: session && Math.max(0, session.deadline - now()),
      server: this.isConnected ? this.report.server : undefined,
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

  /** Ends the leases, removes the entries of the session, and ends it. Never rejects. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.#cancelNext();
    this.#sweeps.stop();
    this.closed();
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

  protected override get lastError(): unknown {
    return this.#lastError;
  }

  protected override start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    void this.#open();
  }

  /** Opens a link and brings a session onto it. Never rejects: the next attempt follows after a pause. */
  async #open(): Promise<void> {
    let opened: RedisLink | undefined;
    try {
      const limitMs = Math.min(
        this.#settings.connectTimeoutMs,
        Math.max(this.answerMs, this.#isAtStake ? 100 : OPEN_MS),
      );
      const clients = await this.#openClients(limitMs);
      const link: RedisLink = new RedisLink(clients, (error) => this.#closed(link, error));
      this.#link = opened = link;
      if (this.isClosed) return link.close('closed');
      await link.open(limitMs);
      await this.#answering(link, this.#begin(link), limitMs * 2);
    } catch (error) {
      this.#failed(opened, error);
    }
  }

  async #begin(link: RedisLink): Promise<void> {
    this.report.warn(await checkServer(link, this.#settings));
    this.#durability = await durabilityOf(link, this.#settings.isReplicated);
    this.#endOverdue();
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
    this.#cut();
    link.unsubscribe(session.channel);
    if (why === 'NEWSERVER') {
      this.#former.push(session);
      this.#session = undefined;
      session.end('the server was restarted, or another one took its place', 'kept');
      this.report.replaced();
    } else this.#ended(session, why === 'LATE' ? 'it was not renewed in time' : 'the server has ended it');
    await this.#join(link);
  }

  async #join(link: RedisLink): Promise<void> {
    const { sessionTimeoutMs, restartDelayMs, shards, isObserver = false } = this.#settings;
    const id = newSessionId();
    await link.subscribe(this.keys.channel(id), (message) => this.#received(session, message));
    const provenAt = now();
    const keys = [this.keys.sessions, this.keys.server];
    const values = [this.#known, id, sessionTimeoutMs, restartDelayMs, shards, this.#overdue, flag(isObserver)];
    const reply = await link.run({ script: JOIN, keys, values });
    const [word, others] = reply as [string, string];
    if (word === 'SHARDS') throw otherShards(shards, others);
    const [, server, settlingMs, serverTime] = reply as [string, string, number, string];
    const proof = { timeoutMs: sessionTimeoutMs, provenAt, serverTime: Number(serverTime) };
    const session = new RedisSession(id, server, this.keys, proof, { doubted: () => this.#renewal?.hurry() });
    this.#session = session;
    this.#overdue = '';
    this.#known = server;
    this.#settledAt = now() + settlingMs;
    this.report.joined(settlingMs);
    const unclaimed = this.#abandoned.concat(...this.#former.map((former) => former.unclaimed));
    this.#linked(session, link, this.#newRenewal(session, link));
    // A server that settles does not know sessions of before. A removal there might hand over what is still held.
    if (settlingMs > 0) return;
    this.#abandoned = [];
    void session.leaveEach(unclaimed);
  }

  #newRenewal(session: RedisSession, link: RedisLink): Renewal {
    const { sessionTimeoutMs } = this.#settings;
    this.#renewal?.stop();
    this.#renewal = new Renewal(session, link, { sessionTimeoutMs, everyMs: this.answerMs }, (why) => {
      this.#answering(link, this.#follow(session, link, why), this.answerMs * 2).catch((error: unknown) =>
        this.#failed(link, error),
      );
    });
    return this.#renewal;
  }

  /** Whether leases would be lost without a server soon. */
  get #isAtStake(): boolean {
    const sessions = this.#session ? [this.#session, ...this.#former] : this.#former;
    return sessions.some(({ deadline }) => deadline > now());
  }

  /** Settles as the work does. The link is closed if the server is silent for too long meanwhile: nothing else looks. */
  #answering(link: RedisLink, work: Promise<void>, limitMs: number): Promise<void> {
    return work.finally(afterSilence(limitMs, () => link.close('the server does not answer')));
  }

  #linked(session: RedisSession, link: RedisLink, renewal: Renewal): void {
    if (link.isClosed || this.isClosed) return;
    renewal.start();
    this.serves(session);
    this.#lastError = undefined;
    this.#pauses.reset();
    session.linkedBy(link);
    // A command of an operator only reads.
    if (!this.#settings.isObserver) this.#sweeps.begin(session);
    this.topics.linkedBy(link);
    this.#former = this.#former.filter(({ leases }) => leases.size > 0);
    for (const former of this.#former) void adopt(former, session);
    this.report.served(session, this.#settings.sessionTimeoutMs);
  }

  #received(session: RedisSession, message: string): void {
    if (message === 'b') this.#renewal?.beat();
    else session.received(message);
  }

  #endOverdue(): void {
    // While no session follows one whose server was replaced, its leases are the last ones.
    const session = this.#session ?? this.#former.at(-1);
    if (session && session.deadline <= now()) this.#ended(session, 'it was not renewed in time');
  }

  #ended(session: RedisSession, why: string): void {
    this.#session = undefined;
    this.#former = this.#former.filter(({ deadline }) => deadline > now());
    this.#overdue = session.id;
    this.lostSession();
    this.#abandoned = this.#abandoned.concat(session.everyPlace);
    session.end(why);
    // A session whose leases were kept is over already. Their timer is late after a suspension of the machine.
    session.leases.close(why);
    this.report.ended(session.id, why);
  }

  #closed(link: RedisLink, error: Error): void {
    if (this.#link !== link) return;
    const wasConnected = this.isConnected;
    this.#cut();
    this.#session?.cut();
    if (wasConnected) this.report.cut(error, this.#session);
    this.#tryAgain(error);
  }

  #cut(): void {
    this.#renewal?.stop();
    this.disconnected();
  }

  /** An attempt has failed. The end of its link, if it has opened one, leads to the next attempt. */
  #failed(link: RedisLink | undefined, error: unknown): void {
    if (link) link.close('another attempt follows', error);
    else this.#tryAgain(error);
  }

  /** Tries again later. Callers that wait are told at once of errors that only other settings end. */
  #tryAgain(error: unknown): void {
    if (this.isClosed) return;
    // After a suspension of the machine, the timers of the leases are late by that time.
    this.#session?.leases.check();
    this.#former.forEach(({ leases }) => leases.check());
    this.#endOverdue();
    this.#lastError = refusalOf((error as { cause?: unknown }).cause ?? error);
    const explanation = explained(this.#lastError);
    // A server that served writes before, or a node of a cluster, is being replaced by another one.
    const isPassing = (this.#settings.isCluster || this.#known !== '') && isWrongServer(this.#lastError);
    if (explanation instanceof LockConfigurationError && !isPassing) {
      this.refused(explanation);
    }
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
