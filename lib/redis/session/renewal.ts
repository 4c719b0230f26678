import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { afterSilence } from '../../async/timer.js';
import type { RedisLink } from '../client/redis-link.js';
import { RENEW } from '../scripts/session-scripts.js';
import type { RedisSession } from './redis-session.js';

/**
 * The outcomes of a renewal: the session lives, the server is another one, the session is over, or it came too late and
 * the leases are lost.
 */
export type RenewalAnswer = 'ALIVE' | 'NEWSERVER' | 'GONE' | 'LATE';

/**
 * Renews a session over one link, at one sixth of the session timeout. A renewal that is not answered before the next
 * one ends the link. So does a link that does not bring the messages of the session's channel.
 */
export class Renewal {
  readonly #session: RedisSession;
  readonly #link: RedisLink;
  readonly #times: { readonly sessionTimeoutMs: number; readonly everyMs: number };
  readonly #onOver: (why: RenewalAnswer) => void;
  #isUnanswered = false;
  #isBeatMissing = false;
  #isStopped = false;
  #cancel: Dispose = () => {};

  /** @param onOver called when the session cannot be renewed any more */
  constructor(
    session: RedisSession,
    link: RedisLink,
    times: { readonly sessionTimeoutMs: number; readonly everyMs: number },
    onOver: (why: RenewalAnswer) => void,
  ) {
    this.#session = session;
    this.#link = link;
    this.#times = times;
    this.#onOver = onOver;
  }

  /** Renews once. @throws LinkLostError, RefusedError */
  async renew(): Promise<RenewalAnswer> {
    const { id, server, keys, linkNumber } = this.#session;
    // After a suspension of the machine, the timer of the leases is late by that time.
    this.#session.leases.check();
    const sentAt = now();
    const values = [server, id, linkNumber, this.#times.sessionTimeoutMs];
    this.#isUnanswered = true;
    this.#isBeatMissing = true;
    const reply = await this.#link.run({ script: RENEW, keys: [keys.sessions, keys.server], values });
    this.#isUnanswered = false;
    const [word, subscribers, serverTime] = reply as [RenewalAnswer, number, string];
    if (word !== 'ALIVE') return word;
    // The leases are lost: their entries must not stay for as long as the process runs.
    if (this.#session.deadline <= now()) return 'LATE';
    this.#session.proven(sentAt, Number(serverTime));
    if (subscribers === 0) this.#link.close('the server has dropped the subscription');
    return word;
  }

  start(): void {
    this.#cancel();
    if (!this.#isStopped) this.#cancel = afterSilence(this.#times.everyMs, () => this.#tick());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Renews now: something says that the session may be over. */
  hurry(): void {
    if (!this.#isStopped && !this.#isUnanswered) this.#send();
  }

  /** Counts the message of a renewal. */
  beat(): void {
    this.#isBeatMissing = false;
  }

  #tick(): void {
    if (this.#isUnanswered) return this.#link.close('the server does not answer');
    if (this.#isBeatMissing) return this.#link.close('messages do not arrive');
    this.#send();
  }

  #send(): void {
    this.start();
    this.renew().then(
      (answer) => {
        if (answer === 'ALIVE' || this.#isStopped) return;
        this.stop();
        this.#onOver(answer);
      },
      // A refusal is an answer, but proves nothing. A lost link is noticed by itself.
      () => (this.#isUnanswered = this.#isBeatMissing = false),
    );
  }
}
