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
 * A ZooKeeper server in this process, for development and tests: it speaks the protocol of ZooKeeper 3.8, so that the
 * same client and the same recipes run as with a real one. One copy in memory, no disk, no ensemble: what it shows is
 * how an application takes, waits for and loses its locks, not what an ensemble survives.
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

  /** What it is, for people. */
  get banner(): string {
    return (
      `Embedded ZooKeeper (in memory, one process, NOT FOR PRODUCTION) on ${this.connectString}. ` +
      'Locks held here bind only its own clients; everything is lost when it ends.'
    );
  }

  /** Ends it. Its clients see their connection closed. */
  async stop(): Promise<void> {
    this.#rest();
    await this.server.close('fin');
  }

  /** Ends it as a crash would. Its state stays for `restart()`. */
  async kill(): Promise<void> {
    this.#rest();
    await this.server.close('rst');
  }

  /** Ends it if it runs, and starts it again on the same port, with its znodes and sessions; these start anew. */
  async restart(): Promise<void> {
    await this.stop();
    await this.#listen(this.port);
  }

  /** As a process that is stopped: nothing is read, nothing is said, and no session expires. */
  freeze(): void {
    this.#isFrozen = true;
    this.server.database.sessions.stand();
    this.pause();
  }

  /** Ends `freeze()`; sessions begin their time anew. */
  thaw(): void {
    this.resume();
    if (this.#isFrozen) this.server.database.sessions.resume();
    this.#isFrozen = false;
  }

  /** Undoes whatever is wrong with it and with the network, and forgets what was planned. */
  override heal(): void {
    super.heal();
    this.thaw();
  }

  /** For the next test: no sessions, no faults, only the znodes that a fresh server has. Numbers go on. */
  reset(): void {
    this.heal();
    this.expireSessions();
    this.server.database.transact((draft) => {
      for (const change of resetChanges(draft.tree)) draft.apply(change);
    });
  }

  /** Removes containers whose last child has gone, and znodes that are past their time, now and not at the interval. */
  reap(): void {
    this.#reaper.reap();
  }

  /** Lets time pass: sessions expire and containers go before this returns. @throws Error unless the clock is manual */
  advance(ms: number): void {
    advance(this.server.database.clock, ms);
  }

  /** Resolves when everything that has arrived is done and answered. What a client is about to send is not known. */
  idle(): Promise<void> {
    return quiet([this.server]);
  }

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
    // A process that ends does not stay frozen; the network stays as it is.
    if (this.#isFrozen) this.thaw();
    this.#reaper.stop();
    this.server.database.sessions.stand();
  }
}
