import { provenUntil } from '../../sessions/session-leases.js';
import type { Handshake } from '../client/zookeeper-client.js';

/**
 * Computes until when the servers cannot have expired a session, by the client's clock alone.
 *
 * The leader removes a session's znodes one session timeout T after it last heard of the session. An answered ping
 * proves only that a follower is alive. The follower reports the ping to the leader with its next own heartbeat. A
 * follower that is cut off from the leader answers pings for seconds.
 *
 * Therefore the proof has two steps:
 * - A request that was sent at S and answered by R has reached the follower.
 * - A later transaction, sent at K >= R + delta, is agreed to by a quorum. It proves that the follower's report had
 *   reached the leader in between.
 *
 * Hence the deadline: the latest such S, plus T, less a margin for clock rates. delta must be at least half the
 * servers' tickTime. That is at most T/4 unless minSessionTimeout was lowered.
 *
 * A new session is itself such a transaction and counts at once. A handshake that resumes a session was validated by
 * the leader, or by a former leader that has not yet noticed its replacement. Such a handshake counts only with the
 * first transaction after it.
 */
const DELTA_SHARE = 1 / 4;
// Samples closer together than this share of T add no information.
const GRAIN_SHARE = 1 / 100;

interface Sample {
  readonly sentAt: number;
  readonly receivedAt: number;
}

export class LeaseClock {
  readonly #samples: Sample[] = [];
  /**
   * The session timeout at creation. A new leader has no other timeout for the session, and may be elected at any
   * moment.
   */
  readonly #firstTimeoutMs: number;
  #timeoutMs: number;
  #provenAt: number;
  #handshake: (Sample & { readonly timeoutMs: number }) | undefined;

  /** @param provenAt when the handshake that created the session was sent */
  constructor(timeoutMs: number, provenAt: number) {
    this.#firstTimeoutMs = timeoutMs;
    this.#timeoutMs = timeoutMs;
    this.#provenAt = provenAt;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The deadline until which the servers cannot have expired the session. */
  get deadline(): number {
    return provenUntil(this.#provenAt, this.#timeoutMs);
  }

  /**
   * Records that a server resumed the session with this timeout. A shorter timeout counts at once, a longer one once it
   * is proven. The timeout never exceeds the one that the session was created with.
   */
  reattached(timeoutMs: number, sentAt: number, receivedAt: number): void {
    this.#timeoutMs = Math.min(this.#timeoutMs, timeoutMs);
    this.#handshake = { timeoutMs, sentAt, receivedAt };
  }

  answered(sentAt: number, receivedAt: number, isQuorum: boolean): void {
    if (isQuorum) this.#prove(sentAt);
    const last = this.#samples.at(-1);
    if (last && receivedAt - last.receivedAt < this.#timeoutMs * GRAIN_SHARE) return;
    this.#samples.push({ sentAt, receivedAt });
    // A sample that is older than the timeout proves nothing any more.
    while ((this.#samples[0]?.sentAt ?? sentAt) < sentAt - this.#timeoutMs) this.#samples.shift();
  }

  #prove(transactionSentAt: number): void {
    const answeredBy = transactionSentAt - this.#timeoutMs * DELTA_SHARE;
    const unproven = this.#samples.findIndex((sample) => sample.receivedAt > answeredBy);
    const proven = this.#samples.splice(0, unproven < 0 ? this.#samples.length : unproven).at(-1);
    this.#provenAt = Math.max(this.#provenAt, proven?.sentAt ?? -Infinity);
    if (this.#handshake && this.#handshake.receivedAt <= transactionSentAt) this.#proveHandshake(this.#handshake);
  }

  #proveHandshake({ timeoutMs, sentAt }: { readonly timeoutMs: number; readonly sentAt: number }): void {
    this.#handshake = undefined;
    this.#timeoutMs = Math.min(timeoutMs, this.#firstTimeoutMs);
    this.#provenAt = Math.max(this.#provenAt, sentAt);
  }
}

/** Warns when the servers grant another session timeout than was asked for, once for each new value. */
export class GrantedTimeout {
  readonly #askedMs: number;
  #knownMs: number;
  #warn: (message: string) => void = () => {};

  constructor(askedMs: number) {
    this.#askedMs = askedMs;
    this.#knownMs = askedMs;
  }

  warnTo(warn: (message: string) => void): void {
    this.#warn = warn;
  }

  granted({ timeoutMs }: Handshake): void {
    if (timeoutMs === this.#knownMs) return;
    this.#knownMs = timeoutMs;
    if (timeoutMs !== this.#askedMs) this.#warn(this.#message(timeoutMs));
  }

  #message(grantedMs: number): string {
    const consequence =
      grantedMs > this.#askedMs
        ? 'the locks of a dead process stay for that long'
        : 'leases are lost after a shorter outage';
    return (
      `the servers grant sessions of ${grantedMs} ms, sessionTimeoutMs asks for ${this.#askedMs}: ${consequence} ` +
      '(minSessionTimeout and maxSessionTimeout of the servers; by default 2 and 20 of their ticks)'
    );
  }
}
