import { hostname } from 'node:os';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, afterSilence, backoff, settledWithin } from '../../async/timer.js';
import { LockConfigurationError, LockUnavailableError } from '../../contract/errors.js';
import type { BackendVitals } from '../../contract/survey.js';
import { BackendSessions } from '../../sessions/backend-sessions.js';
import type { OpenClient } from '../client/etcd-client.js';
import { explained, RefusedError } from '../client/etcd-error.js';
import { EtcdLink } from '../client/etcd-link.js';
import type { User } from '../client/etcd-link.js';
import type { EtcdKeys } from './etcd-keys.js';
import { EtcdSession } from './etcd-session.js';
import { Heartbeat } from './heartbeat.js';
import type { Proof } from './outbox.js';
import { checkVersion, warningsOf } from './server-check.js';
import type { EtcdReport } from './session-report.js';
import { Watches } from './watches.js';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;
/** The time that a server has to answer at first, while no lease is at stake: some check passwords slowly. */
const OPEN_MS = 2_000;
const GOODBYE_MS = 1_000;

/** The settings of the sessions of one backend. */
export interface SessionSettings {
  readonly hosts: readonly string[];
  readonly user: User | undefined;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

/**
 * Keeps one session open, over one link after the other. After a fault the next server is tried. A session that is over
 * is followed by the next one.
 */
export class EtcdSessions extends BackendSessions<EtcdSession> {
  readonly watches = new Watches();
  readonly report: EtcdReport;
  readonly keys: EtcdKeys;
  readonly #settings: SessionSettings;
  readonly #openClient: OpenClient;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #turn: number;
  #link: EtcdLink | undefined;
  #session: EtcdSession | undefined;
  #heartbeat: Heartbeat | undefined;
  #host: string | undefined;
  #hasStarted = false;
  /** The leases of former sessions that the servers may still have. */
  readonly #leftBehind = new Set<bigint>();
  #lastError: unknown;
  #grantedMs: number | undefined;
  #cancelNext: Dispose = () => {};

  constructor(keys: EtcdKeys, settings: SessionSettings, openClient: OpenClient, report: EtcdReport) {
    super('etcd', settings.connectTimeoutMs);
    this.keys = keys;
    this.#settings = settings;
    this.#openClient = openClient;
    this.report = report;
    // The processes of an application begin with different servers.
    this.#turn = Math.floor(Math.random() * settings.hosts.length);
  }

  /** The session and its server, in numbers. Asks no server. */
  get vitals(): BackendVitals {
    const session = this.#session;
    return {
      sessionId: session?.id,
      sessionTimeoutMs: session?.timeoutMs,
      marginMs: session && Math.max(0, session.deadline - now()),
      server: this.isConnected ? this.#host : undefined,
    };
  }

  /** The time for which the servers keep the keys of a dead process: what they granted last, or what is asked for. */
  get lockedAfterDeathMs(): number {
    return this.#grantedMs ?? this.#settings.sessionTimeoutMs;
  }

  /** The time after which an unanswered heartbeat ends a link: two of them are a third of the session timeout. */
  get answerMs(): number {
    return Math.round(this.#settings.sessionTimeoutMs / 6);
  }

  /** The longest time without looking at something that is waited for: old servers can forget an event. */
  get lookEveryMs(): number {
    return this.#settings.sessionTimeoutMs;
  }

  /** Ends the leases of the session and of former ones, and all entries with them. Never rejects. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.#cancelNext();
    this.closed();
    const [session, link] = [this.#session, this.#link];
    this.#heartbeat?.stop();
    // Nothing is granted any more, and nothing is believed, before the keys are gone.
    session?.end('closed');
    if (session) this.#leftBehind.add(session.lease);
    // The session need not be bound to the link for that.
    const revoking = link && !link.isClosed ? [...this.#leftBehind].map((lease) => link.revoke(lease)) : [];
    if (revoking.length > 0) await settledWithin(Promise.allSettled(revoking), GOODBYE_MS);
    link?.close('closed');
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
    const { hosts, user, connectTimeoutMs } = this.#settings;
    const host = hosts[this.#turn++ % hosts.length] ?? '';
    let opened: EtcdLink | undefined;
    try {
      const isAtStake = this.#session !== undefined && this.#session.deadline > now();
      const limitMs = Math.min(connectTimeoutMs, isAtStake ? this.answerMs : Math.max(this.answerMs, OPEN_MS));
      const link: EtcdLink = new EtcdLink(this.#openClient(host), {
        user,
        onClosed: (error) => this.#closed(link, error),
      });
      this.#link = opened = link;
      if (this.isClosed) return link.close('closed');
      const status = await link.open(limitMs);
      checkVersion(status);
      await answering(link, limitMs * 2, this.#begin(link, host));
      this.report.warn(await warningsOf(link, status, this.keys.session('')));
    } catch (error) {
      this.#failed(opened, error);
    }
  }

  async #begin(link: EtcdLink, host: string): Promise<void> {
    if (this.isClosed) return;
    this.#endOverdue();
    this.#revokeLeftBehind(link);
    if (this.#session) await this.#resume(this.#session, link, host);
    else await this.#join(link, host);
  }

  /** Continues a session on another link. */
  async #resume(session: EtcdSession, link: EtcdLink, host: string): Promise<void> {
    const proof = await bind(session, link, 'again');
    if (!proof) return this.#follow(session, link, host);
    const heartbeat = this.#newHeartbeat(session, link, { proof, host });
    if ((await heartbeat.beat()) === 'over') await this.#follow(session, link, host);
    else this.#linked(session, link, { proof, heartbeat, host });
  }

  /** Begins the session that follows one that is over. */
  async #follow(session: EtcdSession, link: EtcdLink, host: string): Promise<void> {
    if (this.#session !== session || this.isClosed) return;
    this.#cut();
    this.#ended(session, 'its lease has ended');
    this.#revokeLeftBehind(link);
    await this.#join(link, host);
  }

  async #join(link: EtcdLink, host: string): Promise<void> {
    const provenAt = now();
    const { lease, ttl } = await link.grant(this.#settings.sessionTimeoutMs / 1_000);
    // A lease may be longer than asked for. It is left as soon as it would be with the time asked for.
    const timeoutMs = Math.min(ttl * 1_000, this.#settings.sessionTimeoutMs);
    this.#grantedMs = ttl * 1_000;
    this.report.granted(this.#grantedMs, this.#settings.sessionTimeoutMs);
    const session = new EtcdSession(lease, {
      keys: this.keys,
      timeoutMs,
      provenAt,
      onDoubt: () => this.#heartbeat?.hurry(),
    });
    const proof = await bind(session, link, 'first');
    if (!proof) throw new LockUnavailableError('etcd has ended a lease that it had just granted');
    this.#session = session;
    this.#linked(session, link, { proof, host, heartbeat: this.#newHeartbeat(session, link, { proof, host }) });
  }

  #newHeartbeat(
    session: EtcdSession,
    link: EtcdLink,
    { proof, host }: { readonly proof: Proof; readonly host: string },
  ): Heartbeat {
    this.#heartbeat?.stop();
    this.#heartbeat = new Heartbeat(session, { link, proof, everyMs: this.answerMs }, (beat) => {
      if (beat !== 'over') return this.#revokeLeftBehind(link);
      const following = this.#follow(session, link, host);
      answering(link, OPEN_MS * 2, following).catch((error: unknown) => this.#failed(link, error));
    });
    return this.#heartbeat;
  }

  #linked(
    session: EtcdSession,
    link: EtcdLink,
    { proof, heartbeat, host }: { proof: Proof; heartbeat: Heartbeat; host: string },
  ): void {
    if (link.isClosed || this.isClosed) return;
    heartbeat.start();
    this.serves(session);
    this.#lastError = undefined;
    this.#pauses.reset();
    this.watches.linkedBy(link);
    session.linkedBy(link, proof);
    this.#host = host;
    this.report.served(session, host);
  }

  #endOverdue(): void {
    const session = this.#session;
    if (session && session.deadline <= now()) this.#ended(session, 'it was not renewed in time');
  }

  #ended(session: EtcdSession, why: string): void {
    this.#session = undefined;
    this.lostSession();
    session.end(why);
    this.report.ended(session.id, why);
    this.#leftBehind.add(session.lease);
  }

  /**
   * Ends the leases of former sessions: their entries would be in the way of others. Another attempt follows with the
   * next heartbeat.
   */
  #revokeLeftBehind(link: EtcdLink): void {
    for (const lease of this.#leftBehind) {
      const isGone = () => void this.#leftBehind.delete(lease);
      link.revoke(lease).then(isGone, (error: unknown) => {
        if (error instanceof RefusedError && error.isLeaseGone) isGone();
      });
    }
  }

  #closed(link: EtcdLink, error: Error): void {
    if (this.#link !== link) return;
    const wasConnected = this.isConnected;
    this.#cut();
    this.#session?.cut();
    if (wasConnected) this.report.cut(error, this.#session);
    this.#tryAgain(error);
  }

  #cut(): void {
    this.#heartbeat?.stop();
    this.disconnected();
  }

  /** An attempt has failed. The end of its link, if it has opened one, leads to the next attempt. */
  #failed(link: EtcdLink | undefined, error: unknown): void {
    if (link) link.close('another attempt follows', error);
    else this.#tryAgain(error);
  }

  /** Tries again later. Callers that wait are told at once of errors that only other settings end. */
  #tryAgain(error: unknown): void {
    if (this.isClosed) return;
    // After a suspension of the machine, the timers of the leases are late by that time.
    this.#session?.leases.check();
    this.#endOverdue();
    this.#lastError = (error as { cause?: unknown }).cause ?? error;
    const explanation = explained(this.#lastError);
    if (explanation instanceof LockConfigurationError) this.refused(explanation);
    this.#cancelNext();
    this.#cancelNext = after(this.#pauses.next(), () => void this.#open());
  }
}

/**
 * Binds a session to a link: changes that were sent over another link have no effect from now on. Returns `undefined`
 * when the session is over.
 */
async function bind(session: EtcdSession, link: EtcdLink, time: 'first' | 'again'): Promise<Proof | undefined> {
  const { key, lease } = session;
  const value = JSON.stringify({ host: hostname(), pid: process.pid });
  const exists = { key, property: 'version', is: 'less', than: 1 } as const;
  const put = { kind: 'put', key, value, lease } as const;
  const look = { kind: 'read', key, only: 'keys' } as const;
  const { isMet, revision } = await link.txn(
    time === 'first'
      ? { compare: [exists], success: [put], failure: [look] }
      : { compare: [exists], success: [look], failure: [put] },
  );
  return isMet === (time === 'first') ? { key, revision, lease } : undefined;
}

/** Settles as the work does. The link is closed if the server is silent for too long meanwhile: nothing else looks. */
function answering(link: EtcdLink, ms: number, work: Promise<void>): Promise<void> {
  return work.finally(afterSilence(ms, () => link.close('the server does not answer')));
}
