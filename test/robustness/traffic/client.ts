import { setTimeout as pause } from 'node:timers/promises';
import type { Lease } from '../../../lib/contract/lease.js';
import type { Lock } from '../../../lib/contract/lock.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { MultiLease } from '../../../lib/composite/multi-lease.js';
import type { Mode } from '../model/history.js';
import type { Random } from '../random.js';
import { attempt, GivenUp } from './attempt.js';
import { nextAsk } from './ask.js';
import type { Ask } from './ask.js';
import type { Belief, Beliefs } from './beliefs.js';
import type { Journal } from './journal.js';
import type { LockTraffic } from './orders.js';
import type { Register } from './register-client.js';

/** The services and records that the clients of one process share. */
export interface ClientTools {
  readonly locks: LockService;
  readonly beliefs: Beliefs;
  readonly journal: Journal;
  readonly register: Register;
  /** Runs the work in a decorated method. Only needed for requests of that kind. */
  readonly runDecorated?: (key: string, mode: Mode, work: (lease: Lease) => Promise<void>) => Promise<void>;
}

/** One user of the locks: acquires one after another, and works briefly under each. */
export class Client {
  readonly #name: string;
  readonly #tools: ClientTools;
  readonly #shape: LockTraffic;
  readonly #random: Random;
  #count = 0;
  #finished = new AbortController();

  constructor(name: string, tools: ClientTools, shape: LockTraffic, random: Random) {
    this.#name = name;
    this.#tools = tools;
    this.#shape = shape;
    this.#random = random;
  }

  async run(): Promise<void> {
    while (!this.#finished.signal.aborted) {
      await this.#act(nextAsk(this.#random, this.#shape));
      await pause(this.#random.int(...this.#shape.pauseMs));
    }
  }

  /** Starts nothing new, and ends the current hold as soon as possible. */
  finish(): void {
    this.#finished.abort();
  }

  async #act(ask: Ask): Promise<void> {
    const id = `${this.#name}/${++this.#count}`;
    const { keys, mode, waitMs } = ask;
    await attempt(this.#tools.journal, { id, keys, mode, waitMs }, async (answer) => {
      const work = async (lease: Lease) => {
        answer('granted');
        await this.#work(lease, ask);
      };
      const reason = new GivenUp('the caller gave up');
      if (ask.kind === 'revoke') await this.#revoke(ask, reason).then(() => answer('revoked'));
      else if (!(await this.#take(ask, reason, work))) answer('not this time');
    });
  }

  /**
   * Requests a release from the holders, and never takes the key by force: a current holder may believe in its lease
   * for a while.
   */
  async #revoke({ keys: [key = ''], waitMs }: Ask, reason: Error): Promise<void> {
    const abort = new AbortController();
    const giveUp = setTimeout(() => abort.abort(reason), waitMs);
    const asked = this.#tools.locks.revoke(key, { graceMs: Infinity, signal: abort.signal });
    await asked.finally(() => clearTimeout(giveUp));
  }

  /** Resolves to whether there was a lease to work under. */
  async #take(ask: Ask, reason: Error, work: (lease: Lease) => Promise<void>): Promise<boolean> {
    if (ask.kind === 'decorated') return this.#call(ask, work);
    const lock = this.#lockOf(ask);
    const { waitMs, abortAfterMs } = ask;
    const abort = new AbortController();
    const giveUp = abortAfterMs === undefined ? undefined : setTimeout(() => abort.abort(reason), abortAfterMs);
    const options = { waitMs, signal: abort.signal };
    try {
      if (ask.kind === 'using') return await lock.using(work, options).then(() => true);
      const lease = await (ask.waitMs === 0 ? lock.tryAcquire(options) : lock.acquire(options));
      if (!lease) return false;
      await using _released = lease;
      await work(lease);
      return true;
    } finally {
      clearTimeout(giveUp);
    }
  }

  async #call({ keys: [key = ''], mode }: Ask, work: (lease: Lease) => Promise<void>): Promise<boolean> {
    const { runDecorated } = this.#tools;
    if (!runDecorated) throw new Error('this process has no decorated methods');
    await runDecorated(key, mode, work);
    return true;
  }

  #lockOf({ kind, keys, mode }: Ask): Lock {
    const { locks } = this.#tools;
    const [key = ''] = keys;
    if (kind === 'multi') return locks.multi(keys);
    if (kind === 'single') return locks.mutex(key, { line: 'none' });
    return mode === 'exclusive' ? locks.mutex(key) : locks.readWriteLock(key)[mode];
  }

  async #work(lease: Lease, ask: Ask): Promise<void> {
    const leases = lease instanceof MultiLease ? lease.leases : [lease];
    const beliefs = leases
      .map((one) => this.#tools.beliefs.begin(one, ask.mode, ask.watchfulness))
      .filter((belief) => belief !== undefined);
    await this.#writeAll(beliefs, ask);
    await this.#keep(lease, ask.holdMs);
    await this.#writeAll(beliefs, ask);
    beliefs.forEach((belief) => belief.end());
  }

  async #writeAll(beliefs: readonly Belief[], { isCareless, mode }: Ask): Promise<void> {
    const writers = beliefs.filter((belief) => isCareless || belief.isHeld());
    await Promise.all(writers.map((belief) => this.#tools.register.write(belief, mode)));
  }

  /** Waits until the time is up, or the lease is lost. */
  async #keep({ signal }: Lease, holdMs: number): Promise<void> {
    const ends = AbortSignal.any([signal, this.#finished.signal]);
    await pause(holdMs, undefined, { signal: ends }).catch(() => {});
  }
}
