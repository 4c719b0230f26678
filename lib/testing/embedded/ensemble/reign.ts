import type { EmbeddedServer } from '../server/embedded-server.js';
import type { Session } from '../sessions/session.js';
import type { Link } from './link.js';

/** The server that leads. */
interface Leader {
  readonly server: EmbeddedServer;
  readonly isFrozen: boolean;
}

/** The leadership of one server, as that server sees it. */
export class Reign {
  readonly #leader: Leader;
  readonly links = new Set<Link>();
  readonly #size: number;
  #proposals: (() => void)[] = [];
  #isOver = false;
  /** Set once the others have a newer leader: the sessions that this leader still considers open. */
  #known: ReadonlyMap<bigint, Session> | undefined;

  /** @param size the number of servers in the ensemble */
  constructor(leader: Leader, size: number) {
    this.#leader = leader;
    this.#size = size;
  }

  /** Whether it leads, and no other server has been elected since. */
  get isCurrent(): boolean {
    return !this.#isOver && !this.#known;
  }

  /** The zxid of its last transaction. */
  get zxid(): bigint {
    const { database, replica } = this.#leader.server;
    return this.isCurrent ? database.zxid : replica.zxid;
  }

  /** Whether a message that it sends now reaches a majority of the servers. */
  get canCommit(): boolean {
    return (
      this.isCurrent && !this.#leader.isFrozen && this.#isMost([...this.links].filter(({ isOpen }) => isOpen).length)
    );
  }

  /** Whether a majority follows it, in its own view. */
  get hasMajority(): boolean {
    return this.#isMost(this.links.size);
  }

  /** Does `work` in its turn: now, or when it reaches a majority again. */
  propose(work: () => void): void {
    if (this.#isOver) return;
    this.#proposals.push(work);
    this.goOn();
  }

  /** Does the work that could not be done before. */
  goOn(): void {
    while (this.#proposals.length > 0 && this.canCommit) this.#proposals.shift()?.();
  }

  /**
   * Does `work` after the work that already waits, without asking any other server. A leader that was replaced answers,
   * too.
   */
  sync(work: (zxid: bigint) => void): void {
    if (this.#proposals.length > 0) this.propose(() => work(this.zxid));
    else work(this.zxid);
  }

  touch(session: Session): void {
    if (this.isCurrent) this.#leader.server.database.sessions.touch(session);
  }

  renew(id: bigint, askedMs: number, owner: object): Session | undefined {
    return this.#known ? this.#known.get(id) : this.#leader.server.database.sessions.renew(id, askedMs, owner);
  }

  /**
   * Called when there is a newer leader, and this one has not been notified. Its view of the sessions has no further
   * consequences.
   */
  depose(): void {
    const { sessions } = this.#leader.server.database;
    this.#known = new Map(sessions.all().flatMap((session) => (session.isEnding ? [] : [[session.id, session]])));
    this.#leader.server.replica.setApart(true);
  }

  end(): void {
    this.#isOver = true;
    this.#proposals = [];
    for (const link of this.links) link.leave('leader');
  }

  #isMost(followers: number): boolean {
    return followers + 1 > this.#size / 2;
  }
}
