import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import { EmbeddedNode } from './embedded-node.js';
import type { Peer } from './ensemble/peer.js';
import type { Quorum } from './ensemble/quorum.js';

/** One server of an embedded ensemble. */
export class EnsembleMember extends EmbeddedNode {
  /** The server's number in the ensemble, from 1 on. */
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

  /** Whether it runs. It serves clients only while it has a leader, too. */
  get isRunning(): boolean {
    return this.#peer.isRunning;
  }

  /** Whether it considers itself the leader. A server that is cut off or frozen may do so beside a newer leader. */
  get isLeader(): boolean {
    return this.server.mode === 'leader';
  }

  /**
   * Kills the server, as a crash would: its connections are reset, its port is closed. Its sessions continue in the
   * ensemble.
   */
  async kill(): Promise<void> {
    const closed = this.server.close('rst');
    if (this.#peer.isFrozen) this.resume();
    this.#quorum.killed(this.#peer);
    await closed;
  }

  /** Kills the server if it runs, and starts it again on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.server.listen(this.port);
    this.#quorum.started(this.#peer);
  }

  /**
   * Cuts the server off from all other servers until `rejoin()`. Clients still reach it. It answers pings, and reads
   * from its last known state; requests that need the leader wait.
   * After `syncLimitMs` it closes all connections and serves no clients. A leader that is cut off continues for as
   * long, too. The others elect another leader once they have given it up.
   */
  cutOff(): void {
    this.#peer.isCutOff = true;
    this.#quorum.changed();
  }

  /** Ends `cutOff()`. Messages sent meanwhile arrive, unless the server has been given up. */
  rejoin(): void {
    this.#peer.isCutOff = false;
    this.#quorum.changed();
  }

  /** Freezes the server like a stopped process: it reads and sends nothing, and the others treat it as cut off. */
  freeze(): void {
    this.pause();
    this.#quorum.freeze(this.#peer);
  }

  /**
   * Ends `freeze()`. If the others have not given the server up, it continues as if nothing had happened. Its clock ran
   * on, and a leader expires sessions before it reads. Otherwise it answers what it reads until it notices that it was
   * given up.
   */
  thaw(): void {
    if (!this.#peer.isFrozen) return;
    this.#quorum.thaw(this.#peer);
    this.resume();
  }

  /** Undoes all faults of the server and of its clients' network, and discards planned faults. */
  override heal(): void {
    this.thaw();
    super.heal();
  }

  /**
   * Delays every write on its way to this server by this many milliseconds. Until then its clients read old data, get
   * no events, and wait for the replies to their own writes. A `sync` waits as well. `Infinity`: until the lag is
   * changed. 0: every write arrives at once.
   * @throws LockConfigurationError for an invalid delay
   */
  lag(ms: number): void {
    if (ms !== Infinity) checkMs('lag', ms, 0, LONGEST_TIMER_MS);
    this.server.replica.lag(ms);
  }
}
