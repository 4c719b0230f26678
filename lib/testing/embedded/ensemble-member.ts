import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import { EmbeddedNode } from './embedded-node.js';
import type { EmbeddedServer } from './server/embedded-server.js';

/** One server of an embedded ensemble. */
export class EnsembleMember extends EmbeddedNode {
  /** Its number in the ensemble, from 1 on. */
  readonly id: number;
  readonly #changed: () => void;
  #isRunning = true;

  /** @internal */
  constructor(id: number, server: EmbeddedServer, changed: () => void) {
    super(server);
    this.id = id;
    this.#changed = changed;
  }

  /** Whether it runs. It serves when most of the others do, too. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isLeader(): boolean {
    return this.server.mode === 'leader';
  }

  /** Ends it as a crash would: its connections are reset, its port is closed. Sessions live on in the ensemble. */
  async kill(): Promise<void> {
    this.#isRunning = false;
    await this.server.close('rst');
    this.#changed();
  }

  /** Ends it if it runs, and starts it again on its port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.server.listen(this.port);
    this.#isRunning = true;
    this.#changed();
  }

  /**
   * It hears of every write so many milliseconds late: until then its clients read what was, get no events, and wait for
   * the answers to their own writes. `Infinity`: until told otherwise. 0: it knows all at once. A `sync` waits as well.
   * @throws LockConfigurationError for what is no such time
   */
  lag(ms: number): void {
    if (ms !== Infinity) checkMs('lag', ms, 0, LONGEST_TIMER_MS);
    this.server.replica.lag(ms);
  }
}
