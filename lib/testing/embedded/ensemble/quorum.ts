import type { Database } from '../database/database.js';
import { Link } from './link.js';
import type { EnsembleTimes } from './ensemble-times.js';
import { Peer } from './peer.js';
import type { PeerNews } from './peer.js';
import { Reign } from './reign.js';
import type { EmbeddedServer } from '../server/embedded-server.js';

/** The servers of an ensemble: the present leader, and the links between the servers. */
export class Quorum implements PeerNews {
  readonly peers: Peer[] = [];
  readonly #database: Database;
  readonly #times: EnsembleTimes;
  /** Called when there is a leader that can decide, or none any more. */
  readonly #ledChanged: (isLed: boolean) => void;
  readonly #links = new Set<[link: Link, follower: Peer]>();
  #leader: Peer | undefined;
  #reign: Reign | undefined;
  #cancelElection: (() => void) | undefined;
  #cancelBeat = () => {};

  constructor(database: Database, times: EnsembleTimes, ledChanged: (isLed: boolean) => void) {
    this.#database = database;
    this.#times = times;
    this.#ledChanged = ledChanged;
    database.decideBy((work) => this.#reign?.propose(work));
  }

  /** The server that was elected last, until it notices that it no longer leads. */
  get leader(): Peer | undefined {
    return this.#leader;
  }

  /** Half a tick, like the interval of all of a leader's checks. */
  get wakeUpMs(): number {
    return this.#database.limits.tickTimeMs / 2;
  }

  /** Whether a message between the servers is under way and arrives by itself. */
  get isBusy(): boolean {
    return this.#database.clock.isRunning && [...this.#links].some(([link]) => link.isCarrying);
  }

  join(server: EmbeddedServer): Peer {
    const peer = new Peer(server, this);
    this.peers.push(peer);
    return peer;
  }

  /** Starts all servers. There is a leader at once. */
  begin(): void {
    for (const peer of this.peers) peer.isRunning = true;
    this.#elect();
    this.#beat();
  }

  stop(): void {
    this.#cancelBeat();
    this.#cancelElection?.();
    for (const peer of this.peers) peer.isRunning = false;
    this.#reign?.end();
    for (const [link] of this.#links) {
      link.leave('leader');
      link.leave('follower');
    }
    this.#database.sessions.stand();
  }

  started(peer: Peer): void {
    peer.isRunning = true;
    this.changed();
  }

  /** Called when the server's process has ended, and with it all of its connections. */
  killed(peer: Peer): void {
    peer.isRunning = false;
    peer.isFrozen = false;
    peer.giveUp();
    this.changed();
  }

  freeze(peer: Peer): void {
    peer.isFrozen = true;
    if (this.leader === peer) this.#database.sessions.stand();
    this.changed();
  }

  thaw(peer: Peer): void {
    if (!peer.isFrozen) return;
    peer.thaw(() => {
      // The leader's clock ran on: it ends sessions before it reads what their clients have sent.
      if (this.leader === peer) this.#database.sessions.goOn();
      this.changed();
    });
  }

  /** Called when anything has changed between the servers. */
  changed(): void {
    for (const [link, follower] of this.#links) this.#update(link, follower);
    this.#reign?.goOn();
    this.#consider();
  }

  gaveUp(_peer: Peer, reign: Reign | undefined): void {
    if (reign && reign === this.#reign) {
      this.#reign = this.#leader = undefined;
      this.#database.sessions.stand();
      this.#ledChanged(false);
    }
    this.#consider();
  }

  #update(link: Link, follower: Peer): void {
    if (!link.update() || !follower.follows(link)) return;
    // A follower that receives everything at once needs no tree of its own.
    follower.server.replica.setApart(!link.isOpen || this.#isDelayed);
  }

  get #isDelayed(): boolean {
    return this.#times.peerDelayMs !== undefined;
  }

  /** Lets servers without a leader follow the present one. If they are a majority, they elect one. */
  #consider(): void {
    const lookers = this.peers.filter(({ isLooking }) => isLooking);
    const isLed = this.#reign?.canCommit ?? false;
    if (!isLed && lookers.length > this.peers.length / 2) return this.#awaitElection();
    this.#cancelElection?.();
    this.#cancelElection = undefined;
    for (const peer of lookers) if (isLed && this.#leader && this.#reign) this.#follow(peer, this.#leader, this.#reign);
  }

  #awaitElection(): void {
    if (this.#cancelElection) return;
    const ms = this.#times.electionMs();
    if (ms <= 0) return this.#elect();
    this.#cancelElection = this.#database.clock.after(ms, () => this.#elect());
  }

  /** Elects a leader. It counts on from a number that no earlier leader has used, and sessions start anew. */
  #elect(): void {
    this.#cancelElection = undefined;
    const [leader, ...others] = this.peers.filter(({ isLooking }) => isLooking);
    if (!leader) return;
    this.#reign?.depose();
    const reign = new Reign(leader, this.peers.length);
    [this.#leader, this.#reign] = [leader, reign];
    this.#database.nextEpoch();
    leader.server.replica.sync(this.#database.zxid, false);
    leader.lead(reign);
    for (const peer of others) this.#follow(peer, leader, reign);
    this.#database.sessions.resume();
    this.#ledChanged(true);
  }

  #follow(peer: Peer, leader: Peer, reign: Reign): void {
    const link = new Link({ leader, follower: peer }, this.#database.clock, this.#times);
    for (const entry of this.#links) if (entry[0].isOver) this.#links.delete(entry);
    this.#links.add([link, peer]);
    peer.server.replica.sync(this.#database.zxid, this.#isDelayed);
    peer.follow(reign, link);
  }

  #beat(): void {
    this.#cancelBeat = this.#database.clock.after(this.#database.limits.tickTimeMs / 2, () => {
      for (const [link, follower] of this.#links) link.beat(() => follower.answerHeartbeat(link));
      this.#beat();
    });
  }
}
