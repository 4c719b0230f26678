import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import { EmbeddedNode } from './embedded-node.js';
import type { Peer } from './ensemble/peer.js';
import type { Quorum } from './ensemble/quorum.js';

/** One server of an embedded ensemble. */
export class EnsembleMember extends EmbeddedNode {
  /** Its number in the ensemble, from 1 on. */
  readonly id: number;
  readonly #peer: Peer;
  readonly #quorum: Quorum;

  /** @internal */
  constructor(id: number, peer: Peer, quorum: Quorum) {
    super(peer.server);
    this.id = id;
    this.#peer = peer;
    this.#quorum = quorum;
  }

  /** Whether it runs. It serves when it has a leader, too. */
  get isRunning(): boolean {
    return this.#peer.isRunning;
  }

  /** Whether it takes itself for the leader. One that is cut off or frozen may do so beside a newer one. */
  get isLeader(): boolean {
    return this.server.mode === 'leader';
  }

  /** Ends it as a crash would: its connections are reset, its port is closed. Sessions live on in the ensemble. */
  async kill(): Promise<void> {
    const closed = this.server.close('rst');
    if (this.#peer.isFrozen) this.resume();
    this.#quorum.killed(this.#peer);
    await closed;
  }

  /** Ends it if it runs, and starts it again on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.server.listen(this.port);
    this.#quorum.started(this.#peer);
  }

  /**
   * Cuts it off from all other servers, until `rejoin()`; clients still reach it. It answers pings and reads from what
   * it knew, and what needs the leader waits. After `syncLimitMs` it closes all connections and serves nobody. A leader
   * goes on for so long, too, and the others elect another one once they have given it up.
   */
  cutOff(): void {
    this.#peer.isCutOff = true;
    this.#quorum.changed();
  }

  /** Ends `cutOff()`. What was said meanwhile arrives, unless it has been given up. */
  rejoin(): void {
    this.#peer.isCutOff = false;
    this.#quorum.changed();
  }

  /** As a process that is stopped: it reads and says nothing, and the others treat it as one that is cut off. */
  freeze(): void {
    this.pause();
    this.#quorum.freeze(this.#peer);
  }

  /**
   * Ends `freeze()`. It goes on as if nothing had happened, if the others have not given it up: its clock went on, and a
   * leader ends sessions before it reads. Else it answers what it reads, until it finds that it is out.
   */
  thaw(): void {
    if (!this.#peer.isFrozen) return;
    this.#quorum.thaw(this.#peer);
    this.resume();
  }

  /** Undoes whatever is wrong with it and with its clients' network, and forgets what was planned. */
  override heal(): void {
    this.thaw();
    super.heal();
  }

  /**
   * It hears of every write so many milliseconds late: until then its clients read what was, get no events, and wait for
   * the answers to their own writes. `Infinity`: until told otherwise. 0: it knows all at once. A `sync` waits as well.
   * @throws LockConfigurationError for what is no such time
   */
  lag(ms: number): void {
    if (ms !== Infinity) checkMs('lag', ms, 0, LONGEST_TIMER_MS);
    this.server.replica.lag(ms);
  }
}
