import { LockLostError, LockUnavailableError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { FaultHistory, RecordedHold, RecordedWait, RecordedWrite } from './fault-history.js';

/** A client as the history names it. */
export interface FaultClient {
  readonly name: string;
  readonly backend: LockBackend;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface WatchedHold extends Mutable<RecordedHold> {
  readonly lease: GrantedLease;
}

interface WatchedWait extends Mutable<RecordedWait> {
  readonly label: string;
  readonly leaving: AbortController;
}

const LOOK_EVERY_MS = 5;

/**
 * Writes the history of a check down: requests, leases and what their holders believed. All clients are in one process,
 * so what two of them believe at one moment can be compared.
 */
export class Witness {
  readonly #holds: WatchedHold[] = [];
  readonly #waits: WatchedWait[] = [];
  readonly #writes: RecordedWrite[] = [];
  readonly #ended = new Set<string>();
  readonly #believed = new Set<WatchedHold>();
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  /** Whether no session is expected to end, so that waits keep their places. */
  isOrdered = false;

  get grants(): number {
    return this.#holds.length;
  }

  /** Sends a request. Its end and its lease are written down. */
  async ask(client: FaultClient, request: Omit<LockRequest, 'signal' | 'label'>, leaving = new AbortController()) {
    const { name, backend } = client;
    const label = `${name}, request ${this.#waits.length + 1}`;
    const { key, mode } = request;
    const isOrdered = this.isOrdered && request.wait;
    const wait: WatchedWait = { key, mode, client: name, askedAt: this.#now(), isOrdered, label, leaving };
    this.#waits.push(wait);
    try {
      const lease = await backend.acquire({ ...request, label, signal: leaving.signal });
      wait.outcome = lease ? 'granted' : 'refused';
      if (lease) this.#granted(name, lease);
      return lease;
    } catch (error) {
      wait.error = error;
      wait.outcome = outcomeOf(error, leaving.signal);
      throw error;
    } finally {
      wait.endedAt = this.#now();
    }
  }

  /** Writes down that these labels stand in the wait queue. */
  seen(labels: Iterable<string | undefined>): void {
    const standing = new Set(labels);
    for (const wait of this.#waits) if (standing.has(wait.label)) wait.queuedAt ??= this.#now();
  }

  /** Writes to the guarded store, if the holder believes in its lease. */
  write(lease: GrantedLease): void {
    const hold = this.#holds.find((one) => one.lease === lease);
    if (!hold || !lease.isHeld()) return;
    const { key, mode, client, token } = hold;
    this.#writes.push({ key, mode, client, token });
  }

  /** Looks at what is believed now. */
  look(): void {
    const at = this.#now();
    for (const hold of this.#believed) {
      if (hold.lease.isHeld()) hold.seenUntil = at;
      else this.#believed.delete(hold);
    }
    if (this.#believed.size === 0) this.#stop();
  }

  /** Stops looking at a lease, because asking for it would change it. */
  forget(lease: GrantedLease): void {
    for (const hold of this.#believed) if (hold.lease === lease) this.#believed.delete(hold);
  }

  /** Writes down that the sessions of a client were ended from outside until now. */
  endedOutside(client: FaultClient): void {
    this.#ended.add(client.name);
  }

  /** Releases all leases and ends all waits. Resolves when that is done. */
  async finish(): Promise<void> {
    this.look();
    this.#believed.clear();
    this.#stop();
    const waits = this.#waits.filter(({ outcome }) => outcome === undefined);
    waits.forEach(({ leaving }) => leaving.abort(new GivenUp()));
    await Promise.all(this.#holds.map(({ lease }) => lease.release()));
  }

  /** Whether a request has not ended. */
  get isWaiting(): boolean {
    return this.#waits.some(({ outcome }) => outcome === undefined);
  }

  /** @param left what is still in wait queues */
  history(left: readonly string[]): FaultHistory {
    const holds = this.#holds.map((hold) => ({ ...hold, isEndedOutside: this.#ended.has(hold.client) }));
    return { holds, waits: this.#waits, writes: this.#writes, left };
  }

  #granted(client: string, lease: GrantedLease): void {
    if (!lease.isHeld()) return void lease.release();
    this.look();
    const from = this.#last;
    const { key, mode, fencingToken: token } = lease;
    const hold = { key, mode, client, token, from, seenUntil: from, lease };
    this.#holds.push(hold);
    this.#believed.add(hold);
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns the time. No two calls return the same. */
  #now(): number {
    return (this.#last = Math.max(performance.now(), this.#last + 0.000_1));
  }
}

/** The reason with which a request is given up. */
export class GivenUp extends Error {}

function outcomeOf(error: unknown, signal: AbortSignal): RecordedWait['outcome'] {
  if (signal.aborted && error === signal.reason) return 'given up';
  return error instanceof LockUnavailableError || error instanceof LockLostError ? 'unavailable' : 'failed';
}
