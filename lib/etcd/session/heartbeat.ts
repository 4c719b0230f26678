import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, afterReading } from '../../async/timer.js';
import type { EtcdLink } from '../client/etcd-link.js';
import type { EtcdSession } from './etcd-session.js';
import type { Proof } from './outbox.js';

/** The outcomes of a heartbeat: the session is proven, it is not proven this time, or it is over. */
export type Beat = 'proven' | 'unproven' | 'over';

/** The request of a beat that has no answer yet. */
type Unanswered = 'renewal' | 'read' | undefined;

/**
 * Renews the lease of a session, and proves the renewal. The answer to a renewal alone proves nothing: a leader that was
 * cut off answers as well, and one that was stopped answers late. The renewal counts from its sending when a majority
 * has answered a later read in the same term. Any later leader begins after that read, and gives every lease its full
 * time again.
 */
export class Heartbeat {
  readonly #session: EtcdSession;
  readonly #link: EtcdLink;
  readonly #proof: Proof;
  readonly #everyMs: number;
  readonly #onBeat: (beat: Beat) => void;
  #unanswered: Unanswered;
  #isStopped = false;
  #cancel: Dispose = () => {};

  /** @param onBeat called with the outcome of each beat that the heartbeat makes by itself; the last one is `'over'` */
  constructor(
    session: EtcdSession,
    { link, proof, everyMs }: { link: EtcdLink; proof: Proof; everyMs: number },
    onBeat: (beat: Beat) => void,
  ) {
    this.#session = session;
    this.#link = link;
    this.#proof = proof;
    this.#everyMs = everyMs;
    this.#onBeat = onBeat;
  }

  /** Renews once. @throws LinkLostError, RefusedError */
  beat(): Promise<Beat> {
    return this.#renew().finally(() => (this.#unanswered = undefined));
  }

  async #renew(): Promise<Beat> {
    const { lease, key } = this.#session;
    // After a suspension of the machine, the timer of the leases is late by that time.
    this.#session.leases.check();
    const sentAt = now();
    this.#unanswered = 'renewal';
    const renewed = await this.#link.keepAlive(lease);
    if (renewed.ttl <= 0) return 'over';
    this.#unanswered = 'read';
    const read = await this.#link.range({ kind: 'read', key, only: 'keys' });
    const [bound] = read.found;
    if (!bound) return 'over';
    // Its leases are lost: their keys must not stay for as long as the process runs.
    if (this.#session.deadline <= now()) return 'over';
    if (read.term !== renewed.term) return 'unproven';
    this.#session.proven(sentAt, renewed.ttl);
    // A request that a former link left behind has bound the session once more. No change is applied until the next one.
    if (bound.modified !== this.#proof.revision) this.#link.close('the session was bound to another connection');
    return 'proven';
  }

  start(): void {
    this.#cancel();
    if (this.#isStopped) return;
    this.#cancel = after(this.#everyMs, () => {
      const overdue = this.#unanswered;
      this.#cancel = afterReading(() => this.#tick(overdue));
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** Renews now: something says that the session may be over. */
  hurry(): void {
    if (!this.#isStopped && this.#unanswered === undefined) this.#send();
  }

  /** @param overdue what had no answer before the sockets were read */
  #tick(overdue: Unanswered): void {
    if (this.#unanswered === undefined) this.#send();
    else if (this.#unanswered === overdue) this.#link.close('the server does not answer');
    // After a stall, the answer to the renewal was read just now, and the read has only been sent.
    else this.start();
  }

  #send(): void {
    this.start();
    void this.beat()
      // A refusal is an answer, but proves nothing. A renewal whose proof is always refused must not keep the keys alive.
      // A lost link is noticed by itself.
      .catch((): Beat => (this.#session.deadline <= now() ? 'over' : 'unproven'))
      .then((beat) => {
        if (this.#isStopped) return;
        if (beat === 'over') this.stop();
        this.#onBeat(beat);
      });
  }
}
