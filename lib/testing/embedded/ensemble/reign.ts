import type { EmbeddedServer } from '../server/embedded-server.js';
import type { Session } from '../sessions/session.js';
import type { Link } from './link.js';

/** The server that leads. */
interface Leader {
  readonly server: EmbeddedServer;
  readonly isFrozen: boolean;
}

/** The time for which one server leads, as it sees it. */
export class Reign {
  readonly #leader: Leader;
  readonly links = new Set<Link>();
  readonly #size: number;
  #proposals: (() => void)[] = [];
  #isOver = false;
  /** The sessions that it still believes in; once others have a newer leader. */
  #known: ReadonlyMap<bigint, Session> | undefined;

  /** @param size how many servers the ensemble has */
  constructor(leader: Leader, size: number) {
    this.#leader = leader;
    this.#size = size;
  }

  /** Whether it leads, and nobody has been elected since. */
  get isCurrent(): boolean {
    return !this.#isOver && !this.#known;
  }

  /** The last transaction that it knows of. */
  get zxid(): bigint {
    const { database, replica } = this.#leader.server;
    return this.isCurrent ? database.zxid : replica.zxid;
  }

  /** Whether most servers hear of what it says now. */
  get canCommit(): boolean {
    return (
      this.isCurrent && !this.#leader.isFrozen && this.#isMost([...this.links].filter(({ isOpen }) => isOpen).length)
    );
  }

  /** Whether most servers follow it, as far as it knows. */
  get hasMajority(): boolean {
    return this.#isMost(this.links.size);
  }

  /** Does `work` in its turn: now, or when most servers hear of it again. */
  propose(work: () => void): void {
    if (this.#isOver) return;
    this.#proposals.push(work);
    this.goOn();
  }

  /** Does what could not be done before. */
  goOn(): void {
    while (this.#proposals.length > 0 && this.canCommit) this.#proposals.shift()?.();
  }

  /** Behind what waits already, and without asking anybody: also one that leads no more answers. */
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

  /** There is a newer leader, of which this one has not heard. What it believes has no consequences any more. */
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
