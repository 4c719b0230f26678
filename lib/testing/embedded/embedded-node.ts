import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import { ErrorCode } from '../../zookeeper/wire/codes.js';
import type { Stat } from '../../zookeeper/wire/records.js';
import { EmbeddedSession } from './embedded-session.js';
import type { EmbeddedServer } from './server/embedded-server.js';
import { FOUR_LETTER_WORDS } from './server/four-letter-words.js';
import type { FaultTarget } from './server/planned-faults.js';
import { statOf } from './tree/znode.js';

export type { FaultTarget };

/** A znode in its present state. */
export interface EmbeddedZnode {
  /** `null` where a client sent none. */
  readonly data: Buffer | null;
  /** The metadata of the znode, as ZooKeeper reports it: versions, transaction ids, times, the owner. */
  readonly stat: Stat;
  /** The lifetime of the znode. */
  readonly kind: 'persistent' | 'ephemeral' | 'container' | 'ttl';
}

/** One server that speaks ZooKeeper's protocol, with methods to inject faults and to inspect its state. */
export abstract class EmbeddedNode {
  /** @internal */
  protected readonly server: EmbeddedServer;

  /** @internal */
  protected constructor(server: EmbeddedServer) {
    this.server = server;
  }

  /** The port that it listens on. */
  get port(): number {
    return this.server.port;
  }

  /** The address for clients, as `host:port`. */
  get connectString(): string {
    const { host } = this.server.settings;
    return `${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /**
   * Closes every connection: `fin` like a server that closes it, `rst` like a server that was killed. Clients may
   * reconnect.
   */
  disconnect(how: 'fin' | 'rst' = 'rst'): void {
    for (const connection of this.server.connections) connection.disconnect(how);
  }

  /**
   * Makes all connections half open. Everything is received, nothing is done or answered, and the expiry of a session
   * is not reported. `heal()` resets such connections.
   */
  blackHole(): void {
    this.server.network.blackHole();
  }

  /** Stops reading and sending until `resume()`. Sessions expire meanwhile. */
  pause(): void {
    this.server.network.pause();
  }

  /** Ends `pause()`. */
  resume(): void {
    this.server.network.resume();
  }

  /**
   * Delays everything that clients receive by this many milliseconds. @throws LockConfigurationError for an invalid
   * delay
   */
  delay(ms: number): void {
    checkMs('delay', ms, 0, LONGEST_TIMER_MS);
    this.server.network.delay(ms);
  }

  /** Accepts connections only to close them. Existing connections are kept. */
  refuse(): void {
    this.server.network.refuses = true;
  }

  /** Undoes all of the above, and discards planned faults. */
  heal(): void {
    this.server.faults.clear();
    this.server.heldEvents.releaseAll();
    this.server.network.heal();
  }

  /**
   * Refuses the next request that matches `target` with `code`, without executing it. Codes are -101 NoNode, -110
   * NodeExists, -4 ConnectionLoss …
   * If `op` is part of a transaction, the whole transaction is refused. Resolves when it has happened.
   */
  failNext(target: FaultTarget, code: number = ErrorCode.connectionLoss): Promise<void> {
    return this.server.faults.plan(target, { type: 'fail', code });
  }

  /** Executes the next such request, then drops its reply and the connection. Resolves when it has happened. */
  loseReply(target: FaultTarget): Promise<void> {
    return this.server.faults.plan(target, { type: 'loseReply' });
  }

  /** Drops the next such request before it is executed, and the connection. Resolves when it has happened. */
  loseRequest(target: FaultTarget): Promise<void> {
    return this.server.faults.plan(target, { type: 'loseRequest' });
  }

  /**
   * Holds the watch events of a path back until the returned function is called. Replies overtake them, which no real
   * server permits. For a server that is late with everything, use `lag()`.
   */
  holdEvents(path: string): () => void {
    return this.server.heldEvents.hold(path);
  }

  /** Returns the sessions that have not ended. */
  sessions(): EmbeddedSession[] {
    const { database } = this.server;
    return database.sessions.all().map((session) => new EmbeddedSession(session, database));
  }

  /** Returns a session by its id, or by the path of one of its ephemeral znodes. @throws Error when there is none */
  session(idOrPath: bigint | string): EmbeddedSession {
    const id = typeof idOrPath === 'bigint' ? idOrPath : this.ownerOf(idOrPath);
    const found = this.sessions().find((session) => session.id === id);
    if (!found) throw new Error(`there is no session ${typeof idOrPath === 'bigint' ? 'with' : 'behind'} ${idOrPath}`);
    return found;
  }

  /** Expires all sessions, like `EmbeddedSession.expire()`. */
  expireSessions(): void {
    for (const session of this.sessions()) session.expire();
  }

  /** Returns all paths at and below this one, in order. */
  paths(below = '/'): string[] {
    const prefix = below === '/' ? '/' : `${below}/`;
    return [...this.server.replica.tree.paths()].filter((path) => path === below || path.startsWith(prefix)).sort();
  }

  /** Returns a znode as this server has it; `undefined` when there is none. */
  znode(path: string): EmbeddedZnode | undefined {
    const znode = this.server.replica.tree.get(path);
    return znode && { data: znode.data, stat: statOf(znode), kind: znode.lifetime.kind };
  }

  /** Returns the id of the session that owns an ephemeral znode. */
  ownerOf(path: string): bigint | undefined {
    return this.znode(path)?.stat.ephemeralOwner || undefined;
  }

  /** Returns the ids of the sessions that watch this path, its data or its children. */
  watchersOf(path: string): bigint[] {
    return [...this.server.replica.watches.watchersOf(path)].flatMap(({ session }) => session?.id ?? []);
  }

  /** Sets the number of the next sequential child. ZooKeeper does not count past 2147483647. @throws Error */
  setSequence(path: string, next: number): void {
    const znode = this.server.database.tree.get(path);
    if (!znode) throw new Error(`there is no znode ${path}`);
    znode.creates = next | 0;
  }

  /** Returns the answer to an admin word such as `srvr`, `dump` or `wchp`; '' for any other. */
  async ask(fourLetterWord: string): Promise<string> {
    return FOUR_LETTER_WORDS.get(fourLetterWord)?.(this.server) ?? '';
  }
}
