/**
 * How long a session's znodes are surely its own, by the client's clock alone.
 *
 * The leader removes a session's znodes one session timeout T after it last heard of the session. An answered ping
 * proves only that a follower lives: it tells the leader of the touch with its next own heartbeat, and a follower cut
 * off from the leader answers pings for seconds. So two steps: a request sent at S and answered by R reached the
 * follower; a later transaction sent at K >= R + delta that a quorum agreed to proves that the follower's word of it
 * had reached the leader in between. Hence the deadline: the latest such S, plus T, less a margin for clock rates.
 * delta must be at least half the servers' tickTime, which is at most T/4 unless minSessionTimeout was lowered.
 * A handshake is validated at the leader itself and counts at once.
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
  readonly #timeoutMs: number;
  readonly #samples: Sample[] = [];
  #provenAt: number;

  /** @param provenAt when the handshake was sent that established the session */
  constructor(timeoutMs: number, provenAt: number) {
    this.#timeoutMs = timeoutMs;
    this.#provenAt = provenAt;
  }

  /** Until when the session's znodes are surely its own. */
  get deadline(): number {
    return this.#provenAt + this.#timeoutMs * (1 - RATE_SHARE) - TIMER_SLACK_MS;
  }

  /** A server accepted the session again. */
  reattached(sentAt: number): void {
    this.#provenAt = Math.max(this.#provenAt, sentAt);
  }

  answered(sentAt: number, receivedAt: number, isQuorum: boolean): void {
    if (isQuorum) this.#prove(sentAt - this.#timeoutMs * DELTA_SHARE);
    const last = this.#samples.at(-1);
    if (last && receivedAt - last.receivedAt < this.#timeoutMs * GRAIN_SHARE) return;
    this.#samples.push({ sentAt, receivedAt });
  }

  #prove(answeredBy: number): void {
    const known = this.#samples.findIndex((sample) => sample.receivedAt > answeredBy);
    const proven = this.#samples.splice(0, known < 0 ? this.#samples.length : known).at(-1);
    if (proven) this.#provenAt = Math.max(this.#provenAt, proven.sentAt);
  }
}
