import { EmbeddedNode } from './embedded-node.js';
import { resolveEmbeddedOptions } from './embedded.options.js';
import type { EmbeddedZooKeeperOptions, ResolvedEmbeddedOptions } from './embedded.options.js';
import { databaseOf, serverOf } from './make-server.js';
import { Reaper } from './requests/reaper.js';
import type { EmbeddedServer } from './server/embedded-server.js';
import { quiet } from './server/quiet.js';
import { advance } from './sessions/manual-clock.js';
import { resetChanges } from './tree/reset-changes.js';

/**
 * A ZooKeeper server in this process, for development and tests. It speaks the protocol of ZooKeeper 3.8, so that the
 * same client and the same recipes run as with a real server. It has one copy in memory, no disk and no ensemble. It
 * shows how an application acquires, waits for and loses its locks, not what an ensemble survives.
 */
export class EmbeddedZooKeeper extends EmbeddedNode implements AsyncDisposable {
  readonly #options: ResolvedEmbeddedOptions;
  readonly #reaper: Reaper;
  #isFrozen = false;

  private constructor(server: EmbeddedServer, options: ResolvedEmbeddedOptions) {
    super(server);
    this.#options = options;
    this.#reaper = new Reaper(server.database, options.containerCheckIntervalMs);
  }

  /**
   * Resolves when it listens. @throws LockConfigurationError for a wrong option, Error when the port is taken or
   * NODE_ENV is `production`
   */
  static async start(options?: EmbeddedZooKeeperOptions): Promise<EmbeddedZooKeeper> {
    const resolved = resolveEmbeddedOptions(options);
    const zookeeper = new EmbeddedZooKeeper(serverOf(databaseOf(resolved), resolved), resolved);
    await zookeeper.#listen(resolved.port);
    return zookeeper;
  }

  /** A description for people. */
  get banner(): string {
    return (
      `Embedded ZooKeeper (in memory, one process, NOT FOR PRODUCTION) on ${this.connectString}. ` +
      'Locks held here bind only its own clients; everything is lost when it ends.'
    );
  }

  /** Stops the server. Its clients see their connections closed. */
  async stop(): Promise<void> {
    this.#rest();
    await this.server.close('fin');
  }

  /** Kills the server, as a crash would. Its state is kept for `restart()`. */
  async kill(): Promise<void> {
    this.#rest();
    await this.server.close('rst');
  }

  /**
   * Stops the server if it runs, and starts it again on the same port, with its znodes and sessions. Session timeouts
   * start anew.
   */
  async restart(): Promise<void> {
    await this.stop();
    await this.#listen(this.port);
  }

  /** Freezes the server like a stopped process: nothing is read or sent, and no session expires. */
  freeze(): void {
    this.#isFrozen = true;
    this.server.database.sessions.stand();
    this.pause();
  }

  /** Ends `freeze()`. Session timeouts start anew. */
  thaw(): void {
    this.resume();
    if (this.#isFrozen) this.server.database.sessions.resume();
    this.#isFrozen = false;
  }

  /** Undoes all faults of the server and the network, and discards planned faults. */
  override heal(): void {
    super.heal();
    this.thaw();
  }

  /**
   * Prepares for the next test: no sessions, no faults, and only the znodes of a fresh server. Zxids and counters
   * continue.
   */
  reset(): void {
    this.heal();
    this.expireSessions();
    this.server.database.transact((draft) => {
      for (const change of resetChanges(draft.tree)) draft.apply(change);
    });
  }

  /**
   * Removes containers whose last child was deleted, and znodes past their time to live. Does so now, without waiting
   * for the interval.
   */
  reap(): void {
    this.#reaper.reap();
  }

  /**
   * Advances the clock: sessions expire and containers are removed before this returns. @throws Error unless the clock
   * is manual
   */
  advance(ms: number): void {
    advance(this.server.database.clock, ms);
  }

  /**
   * Resolves when everything that has arrived is done and answered. Requests that a client has yet to send are not
   * considered.
   */
  idle(): Promise<void> {
    return quiet([this.server]);
  }

  /** Stops the server, like `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #listen(port: number): Promise<void> {
    await this.server.listen(port);
    this.server.database.sessions.resume();
    this.#reaper.start();
    this.#options.log(this.banner);
  }

  #rest(): void {
    // A process that ends is no longer frozen. The network's faults remain.
    if (this.#isFrozen) this.thaw();
    this.#reaper.stop();
    this.server.database.sessions.stand();
  }
}
