import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { orTimeout } from '../../async/timer.js';
import type { Contender } from '../../contract/contender.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { RecordStore } from '../../contract/record-store.js';
import { RecordsBelow } from './records-below.js';

/** The backend to check. */
export interface ContractSubject {
  /** Creates one client of the backend's service. Every call creates another client, as other processes would. */
  readonly open: () => LockBackend | Promise<LockBackend>;
  /** Whether a client excludes only itself, as locks in memory do. Default `false`. */
  readonly isLocal?: boolean;
  /**
   * The time limit of every expected event, in milliseconds. It must be less than the runner's test time-out. Default 4
   * 000.
   */
  readonly limitMs?: number;
}

// Less than the default test time-out of runners, so that the error message names the step that took too long.
const LIMIT_MS = 4_000;
const LOOK_EVERY_MS = 2;
const LULL_MS = 40;

/** The environment of one check: two clients, and keys and records that no other check uses. */
export class ContractStage implements AsyncDisposable {
  readonly key: string;
  /** The same records, as seen by `one` and by `other`. */
  readonly records: RecordStore;
  readonly othersRecords: RecordStore;
  /** Whether there is only one client, which is both `one` and `other`. */
  readonly isLocal: boolean;
  readonly #limitMs: number;

  private constructor(
    readonly one: LockBackend,
    readonly other: LockBackend,
    limitMs: number,
  ) {
    // Short enough to appear in full in error messages. Backends with shards keep keys with the same text in braces
    // together, so that they may be acquired as a set.
    const place = `{contract/${randomUUID().slice(0, 13)}}`;
    this.key = `${place}/key`;
    this.records = new RecordsBelow(one.records, place);
    this.othersRecords = new RecordsBelow(other.records, place);
    this.isLocal = one === other;
    this.#limitMs = limitMs;
  }

  static async open({ open, isLocal = false, limitMs = LIMIT_MS }: ContractSubject): Promise<ContractStage> {
    const one = await open();
    const other = isLocal ? one : await Promise.resolve(open()).catch((error: unknown) => closing(one, error));
    const stage = new ContractStage(one, other, limitMs);
    try {
      await stage.within(Promise.all([stage.one.connect(), stage.other.connect()]), 'connect()');
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]().catch(() => {});
      throw error;
    }
  }

  /** Returns the clients alternately. */
  client(turn: number): LockBackend {
    return turn % 2 === 0 ? this.one : this.other;
  }

  ask(client: LockBackend, changes: Partial<LockRequest> = {}): Promise<GrantedLease | null> {
    const { signal } = new AbortController();
    const request = { key: this.key, mode: 'exclusive', line: 'fifo', wait: true, signal } as const;
    return unwatched(client.acquire({ ...request, ...changes }));
  }

  /** Resolves with a lease that is granted in time. */
  async hold(client: LockBackend, changes: Partial<LockRequest> = {}): Promise<GrantedLease> {
    const lease = await this.within(this.ask(client, changes), `a lease (${changes.mode ?? 'exclusive'})`);
    assert.ok(lease, 'acquire() resolves with null although nobody is ahead, or the request waits');
    return lease;
  }

  /** Resolves with the result of a request that does not wait. */
  tryFor(client: LockBackend, changes: Partial<LockRequest> = {}): Promise<GrantedLease | null> {
    return this.within(this.ask(client, { wait: false, ...changes }), 'an answer to a request that does not wait');
  }

  line(): Promise<readonly Contender[]> {
    return this.within(this.one.lineOf(this.key), 'lineOf()');
  }

  /** Returns up to `most` holders of the key. Empty when the backend does not distinguish them. */
  async holders(most: number): Promise<readonly Contender[]> {
    const { signal } = new AbortController();
    const asked = this.one.holdersOf?.({ key: this.key, of: 'key', most, signal });
    return this.within(Promise.resolve(asked ?? []), 'holdersOf()');
  }

  /** Resolves when the key has this many contenders, holders included. */
  async standing(count: number): Promise<void> {
    const end = performance.now() + this.#limitMs;
    for (;;) {
      const { length } = await this.line();
      if (length === count) return;
      assert.ok(performance.now() < end, `lineOf() shows ${length} contenders, not ${count}`);
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Waits long enough for an unwanted event to happen. */
  async lull(): Promise<void> {
    await pause(LULL_MS);
  }

  /** Returns the promise with a time limit. */
  within<T>(promise: Promise<T>, what: string, steps = 1): Promise<T> {
    const limitMs = this.#limitMs * steps;
    const tooLate = () => new assert.AssertionError({ message: `${what}: not within ${limitMs} ms` });
    return orTimeout(promise, limitMs, tooLate);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clients = new Set([this.one, this.other]);
    await this.within(Promise.all([...clients].map((client) => client.close())), 'close()');
  }
}

/** Closes the client that was opened before, then throws the error. */
async function closing(opened: LockBackend, error: unknown): Promise<never> {
  await opened.close().catch(() => {});
  throw error;
}

/** Returns the promise, marked as handled: a failed check leaves other requests behind that wait. */
export function unwatched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
