import type { Handshake } from '../client/zookeeper-client.js';

/**
 * How long a session's znodes are surely its own, by the client's clock alone.
 *
 * The leader removes a session's znodes one session timeout T after it last heard of the session. An answered ping
 * proves only that a follower lives: it tells the leader of the touch with its next own heartbeat, and a follower cut
 * off from the leader answers pings for seconds. So two steps: a request sent at S and answered by R reached the
 * follower; a later transaction sent at K >= R + delta that a quorum agreed to proves that the follower's word of it
 * had reached the leader in between. Hence the deadline: the latest such S, plus T, less a margin for clock rates.
 * delta must be at least half the servers' tickTime, which is at most T/4 unless minSessionTimeout was lowered.
 * A new session is itself such a transaction and counts at once. A handshake that takes a session up again was
 * validated by the leader, or by one who no longer is and does not know: it counts with the first transaction behind it.
 */
const DELTA_SHARE = 1 / 4;
// Two clocks may differ in rate by this much; quartz differs by far less, a clock that is being slewed by up to 1 %.
const RATE_SHARE = 0.02;
const TIMER_SLACK_MS = 15;
// Samples closer together than this share of T say nothing new.
const GRAIN_SHARE = 1 / 100;

interface Sample {
  readonly sentAt: number;
  readonly receivedAt: number;
}

export class LeaseClock {
  readonly #samples: Sample[] = [];
  /** A new leader knows of no other timeout than this, and may be elected at any moment. */
  readonly #firstTimeoutMs: number;
  #timeoutMs: number;
  #provenAt: number;
  #handshake: (Sample & { readonly timeoutMs: number }) | undefined;

  /** @param provenAt when the handshake was sent that made the session */
  constructor(timeoutMs: number, provenAt: number) {
    this.#firstTimeoutMs = timeoutMs;
    this.#timeoutMs = timeoutMs;
    this.#provenAt = provenAt;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Until when the session's znodes are surely its own. */
  get deadline(): number {
    return this.#provenAt + this.#timeoutMs * (1 - RATE_SHARE) - TIMER_SLACK_MS;
  }

  /**
   * A server took the session up again with this timeout: a shorter one counts at once, a longer one once proven. None is
   * longer than the one that the session was made with.
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
    // Older than the timeout proves nothing any more.
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

/** Says so when the servers grant another session timeout than was asked for, once for each that they grant. */
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
