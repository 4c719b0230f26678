import type { Receiver } from '../database/database.js';
import type { Leadership } from '../database/leadership.js';
import type { Transaction } from '../database/transaction.js';
import type { EmbeddedServer } from '../server/embedded-server.js';
import type { Session } from '../sessions/session.js';
import type { Link, LinkEnd } from './link.js';
import type { Reign } from './reign.js';

/** What a server tells the others of. */
export interface PeerNews {
  /** It has lost its leader, or leads no more. */
  gaveUp(peer: Peer, reign: Reign | undefined): void;
  /** How long after it was thawed it finds that a follower has left. */
  readonly wakeUpMs: number;
}

/** One server among the others: it leads, follows a leader, or looks for one. */
export class Peer implements Leadership, Receiver, LinkEnd {
  readonly server: EmbeddedServer;
  readonly #news: PeerNews;
  /** Sessions that were heard of since the leader's last heartbeat. */
  readonly #touched = new Set<Session>();
  isRunning = false;
  isCutOff = false;
  isFrozen = false;
  #isWaking = false;
  #link: Link | undefined;
  #followed: Reign | undefined;
  #reign: Reign | undefined;

  constructor(server: EmbeddedServer, news: PeerNews) {
    this.server = server;
    this.#news = news;
    server.isServing = false;
    server.mode = 'follower';
    server.database.serve(this);
  }

  /** Whether the other servers reach it. */
  get isConnected(): boolean {
    return this.isRunning && !this.isCutOff && !this.isFrozen;
  }

  get isLooking(): boolean {
    return this.isConnected && !this.#link && !this.#reign;
  }

  follows(link: Link): boolean {
    return link === this.#link;
  }

  lead(reign: Reign): void {
    this.#reign = reign;
    this.server.mode = 'leader';
    this.server.isServing = true;
  }

  follow(reign: Reign, link: Link): void {
    this.#followed = reign;
    this.#link = link;
    reign.links.add(link);
    this.server.isServing = true;
  }

  receive(transaction: Transaction): void {
    if (this.#reign?.isCurrent) this.server.replica.receive(transaction);
    else if (this.#followed?.isCurrent) this.#link?.down(() => this.server.replica.receive(transaction));
  }

  commit<T>(work: () => T, done: (result: T) => void): void {
    const [link, followed] = [this.#link, this.#followed];
    if (this.#reign) return this.#reign.propose(() => done(work()));
    link?.up(() =>
      followed?.propose(() => {
        const result = work();
        link.down(() => done(result));
      }),
    );
  }

  sync<T>(work: (zxid: bigint) => T, done: (result: T) => void): void {
    const [link, followed] = [this.#link, this.#followed];
    // A leader does not let its own clients wait for what it has not agreed on yet.
    if (this.#reign) return done(work(this.#reign.zxid));
    link?.up(() =>
      followed?.sync((zxid) => {
        const result = work(zxid);
        link.down(() => done(result));
      }),
    );
  }

  renew(id: bigint, askedMs: number, done: (session: Session | undefined) => void): void {
    const [link, followed] = [this.#link, this.#followed];
    if (this.#reign) return done(this.#reign.renew(id, askedMs, this));
    link?.up(() => {
      const session = followed?.renew(id, askedMs, this);
      link.down(() => done(session));
    });
  }

  touch(session: Session): void {
    if (this.#reign) this.#reign.touch(session);
    else this.#touched.add(session);
  }

  /** The leader's heartbeat has arrived: its answer says of whom this server has heard. */
  answerHeartbeat(link: Link): void {
    if (!this.follows(link)) return;
    const [sessions, followed] = [[...this.#touched], this.#followed];
    this.#touched.clear();
    if (sessions.length > 0) link.up(() => sessions.forEach((session) => followed?.touch(session)));
  }

  /** What `action` finds out, a process that has just been thawed finds out a little later. */
  thaw(action: () => void): void {
    this.isFrozen = false;
    this.#isWaking = true;
    action();
    this.#link?.awaitLimit('follower');
    this.#reign?.links.forEach((link) => link.awaitLimit('leader'));
    this.#isWaking = false;
  }

  giveUpOn(link: Link): void {
    if (this.follows(link)) this.giveUp();
    else if (this.#reign?.links.has(link)) this.#drop(link);
  }

  missed(link: Link): void {
    const { clock } = this.server.database;
    if (!this.#isWaking) this.giveUpOn(link);
    // A leader looks at its followers every half tick; a follower has its connection closed behind what it has to read.
    else if (this.#reign) clock.after(this.#news.wakeUpMs, () => this.giveUpOn(link));
    else clock.whenRead(() => this.giveUpOn(link));
  }

  /** Serves nobody and looks for a leader, if it runs. */
  giveUp(): void {
    const [link, reign] = [this.#link, this.#reign];
    if (!link && !reign) return;
    this.#link = this.#followed = this.#reign = undefined;
    this.#touched.clear();
    this.server.isServing = false;
    this.server.mode = 'follower';
    this.server.forgetRequests();
    for (const connection of this.server.connections) connection.disconnect('fin');
    link?.leave('follower');
    reign?.end();
    this.#news.gaveUp(this, reign);
  }

  #drop(link: Link): void {
    link.leave('leader');
    this.#reign?.links.delete(link);
    if (!this.#reign?.hasMajority) this.giveUp();
  }
}
