import type { Receiver } from '../database/database.js';
import type { Leadership } from '../database/leadership.js';
import type { Transaction } from '../database/transaction.js';
import type { EmbeddedServer } from '../server/embedded-server.js';
import type { Session } from '../sessions/session.js';
import type { Link, LinkEnd } from './link.js';
import type { Reign } from './reign.js';

/** The notifications and times that a server shares with the others. */
export interface PeerNews {
  /** Called when the server has lost its leader, or no longer leads. */
  gaveUp(peer: Peer, reign: Reign | undefined): void;
  /** The time after which a thawed leader notices that a follower has left. */
  readonly wakeUpMs: number;
}

/** One server among the others. It leads, follows a leader, or looks for one. */
export class Peer implements Leadership, Receiver, LinkEnd {
  readonly server: EmbeddedServer;
  readonly #news: PeerNews;
  /** The sessions that were active since the leader's last heartbeat. */
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
    // A leader does not let its own clients wait for proposals that it has yet to agree on with the others.
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

  /** Called when the leader's heartbeat has arrived. The reply names the sessions that were active on this server. */
  answerHeartbeat(link: Link): void {
    if (!this.follows(link)) return;
    const [sessions, followed] = [[...this.#touched], this.#followed];
    this.#touched.clear();
    if (sessions.length > 0) link.up(() => sessions.forEach((session) => followed?.touch(session)));
  }

  /** Ends a freeze. Links that `action` finds closed are noticed by the thawed process only a little later. */
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
    // A leader checks its followers every half tick. A follower finds its connection closed only after what it still
    // has to read.
    else if (this.#reign) clock.after(this.#news.wakeUpMs, () => this.giveUpOn(link));
    else clock.whenRead(() => this.giveUpOn(link));
  }

  /** Stops serving clients and looks for a leader, if the server runs. */
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
