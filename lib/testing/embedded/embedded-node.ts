import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import { ErrorCode } from '../../zookeeper/wire/error-codes.js';
import type { Stat } from '../../zookeeper/wire/records.js';
import { EmbeddedSession } from './embedded-session.js';
import type { EmbeddedServer } from './server/embedded-server.js';
import { FOUR_LETTER_WORDS } from './server/four-letter-words.js';
import type { FaultTarget } from './server/planned-faults.js';
import { statOf } from './tree/znode.js';

export type { FaultTarget };

/** A znode, as it is now. */
export interface EmbeddedZnode {
  /** `null` where a client sent none. */
  readonly data: Buffer | null;
  readonly stat: Stat;
  readonly kind: 'persistent' | 'ephemeral' | 'container' | 'ttl';
}

/** One server that speaks ZooKeeper's protocol: what goes wrong with it, and what it knows. */
export abstract class EmbeddedNode {
  /** @internal */
  protected readonly server: EmbeddedServer;

  /** @internal */
  protected constructor(server: EmbeddedServer) {
    this.server = server;
  }

  get port(): number {
    return this.server.port;
  }

  get connectString(): string {
    const { host } = this.server.settings;
    return `${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** Ends every connection: `fin` as a server that closes it, `rst` as one that was killed. Clients may come back. */
  disconnect(how: 'fin' | 'rst' = 'rst'): void {
    for (const connection of this.server.connections) connection.disconnect(how);
  }

  /**
   * Half open: everything is taken, nothing is done or answered, and nobody hears that a session has expired. `heal()`
   * resets such connections.
   */
  blackHole(): void {
    this.server.network.blackHole();
  }

  /** Nothing is read and nothing said until `resume()`. Sessions expire meanwhile. */
  pause(): void {
    this.server.network.pause();
  }

  resume(): void {
    this.server.network.resume();
  }

  /** Clients hear everything this much later, in milliseconds. @throws LockConfigurationError for what is no such time */
  delay(ms: number): void {
    checkMs('delay', ms, 0, LONGEST_TIMER_MS);
    this.server.network.delay(ms);
  }

  /** Takes connections only to close them. Those that there are stay. */
  refuse(): void {
    this.server.network.refuses = true;
  }

  /** Undoes all of the above, and forgets what was planned. */
  heal(): void {
    this.server.faults.clear();
    this.server.heldEvents.releaseAll();
    this.server.network.heal();
  }

  /**
   * The next request that `target` means is refused with `code` and not done: -101 NoNode, -110 NodeExists, -4
   * ConnectionLoss … An `op` of a transaction means the transaction. Resolves when it has happened.
   */
  failNext(target: FaultTarget, code: number = ErrorCode.connectionLoss): Promise<void> {
    return this.server.faults.plan(target, { type: 'fail', code });
  }

  /** The next such request is done, its reply is lost, and the connection with it. Resolves when it has happened. */
  loseReply(target: FaultTarget): Promise<void> {
    return this.server.faults.plan(target, { type: 'loseReply' });
  }

  /** The next such request is lost before it is done, and the connection with it. Resolves when it has happened. */
  loseRequest(target: FaultTarget): Promise<void> {
    return this.server.faults.plan(target, { type: 'loseRequest' });
  }

  /**
   * Keeps the watch events of a path until the returned function is called. Replies overtake them, which no real
   * server lets happen: for one that is late with everything there is `lag()`.
   */
  holdEvents(path: string): () => void {
    return this.server.heldEvents.hold(path);
  }

  sessions(): EmbeddedSession[] {
    const { database } = this.server;
    return database.sessions.all().map((session) => new EmbeddedSession(session, database));
  }

  /** By its id, or by the path of an ephemeral znode of its own. @throws Error when there is none */
  session(idOrPath: bigint | string): EmbeddedSession {
    const id = typeof idOrPath === 'bigint' ? idOrPath : this.ownerOf(idOrPath);
    const found = this.sessions().find((session) => session.id === id);
    if (!found) throw new Error(`there is no session ${typeof idOrPath === 'bigint' ? 'with' : 'behind'} ${idOrPath}`);
    return found;
  }

  /** All sessions, as `EmbeddedSession.expire()`. */
  expireSessions(): void {
    for (const session of this.sessions()) session.expire();
  }

  /** All paths at and below this one, in order. */
  paths(below = '/'): string[] {
    const prefix = below === '/' ? '/' : `${below}/`;
    return [...this.server.replica.tree.paths()].filter((path) => path === below || path.startsWith(prefix)).sort();
  }

  znode(path: string): EmbeddedZnode | undefined {
    const znode = this.server.replica.tree.get(path);
    return znode && { data: znode.data, stat: statOf(znode), kind: znode.lifetime.kind };
  }

  /** The id of the session that an ephemeral znode belongs to. */
  ownerOf(path: string): bigint | undefined {
    return this.znode(path)?.stat.ephemeralOwner || undefined;
  }

  /** The ids of the sessions that watch this path, its data or its children. */
  watchersOf(path: string): bigint[] {
    return [...this.server.replica.watches.watchersOf(path)].flatMap(({ session }) => session?.id ?? []);
  }

  /** The number that the next sequential child gets. Past 2147483647 ZooKeeper does not count. @throws Error */
  setSequence(path: string, next: number): void {
    const znode = this.server.database.tree.get(path);
    if (!znode) throw new Error(`there is no znode ${path}`);
    znode.creates = next | 0;
  }

  /** The answer to an admin word such as `srvr`, `dump` or `wchp`; '' to another. */
  async ask(fourLetterWord: string): Promise<string> {
    return FOUR_LETTER_WORDS.get(fourLetterWord)?.(this.server) ?? '';
  }
}
