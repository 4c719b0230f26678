import { NEVER, withAnyAbort } from '../async/abort.js';
import { now } from '../async/clock.js';
import { backoff, pause } from '../async/timer.js';
import { Deadline } from '../composite/deadline.js';
import { checkFields, checkMs, checkSignal } from '../contract/check.js';
import { channels } from '../contract/channels.js';
import type { LockKind, QueueEvent } from '../contract/channels.js';
import type { CoordinationBackend } from '../contract/coordination-backend.js';
import {
  LockConfigurationError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LockConnection } from '../service/lock-connection.js';
import type { Observation } from '../service/observation.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** The names of a queue, a barrier or a shared value. */
export interface Named {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The key as the backend uses it, under the service. */
  readonly at: string;
}

/** A grant of a backend: an item or a member with its lease. */
interface Leased {
  readonly lease: GrantedLease;
}

/** An acquisition of an item or of a place in a barrier. */
interface Acquired extends WaitOptions {
  readonly key: string;
  readonly kind: LockKind;
  readonly mode: LeaseMode;
  readonly label?: string | undefined;
}

/** An action on items of a queue, before it is an event. */
interface QueueAction extends Pick<QueueEvent, 'action' | 'key' | 'count' | 'itemId'> {
  /** The `timeOfEvents` at the beginning of the call. */
  readonly since?: number | undefined;
}

/** The condition that a call waits for. */
interface Awaited extends WaitOptions {
  readonly key: string;
  /** The reason that is reported when the time runs out. */
  readonly why: string;
}

/** The limits of one call. */
export interface Limits {
  /** `false`: answer at once. */
  readonly wait: boolean;
  readonly signal: AbortSignal;
}

/** Ends the calls of one connection: when their time runs out, on their callers' signals, and at shutdown. */
export class Waiting {
  readonly #connection: LockConnection;
  readonly #stopping: AbortSignal;

  constructor(connection: LockConnection, stopping: AbortSignal) {
    this.#connection = connection;
    this.#stopping = stopping;
  }

  /** The backend's coordination part. @throws LockConfigurationError when the backend has locks only */
  get backend(): CoordinationBackend {
    const { coordination, name } = this.#connection.backend;
    if (coordination) return coordination;
    throw new LockConfigurationError(`the backend "${name}" has no queues, barriers and shared values`);
  }

  /**
   * Returns what `call` was granted leases of, and makes the shutdown wait for them. Observers see one acquisition for
   * each lease. All of them began with the call; a call without a lease is one acquisition, too.
   * @throws LockShutdownError; as `call` does
   */
  async acquire<T extends readonly Leased[] | null>(what: Acquired, call: () => Promise<T>): Promise<T> {
    const { signal, label } = what;
    const waitMs = this.#waitMs(what);
    const observation = this.#connection.gate.observe({ ...what, line: 'fifo' }, { label, waitMs });
    const granted = await call().catch((error: unknown) => {
      observation?.missed(error, signal?.aborted && error === signal.reason);
      throw error;
    });
    if (granted) this.#hold(granted, label, observation);
    else if (waitMs > 0) observation?.ranOut();
    else observation?.missed(undefined);
    return granted;
  }

  #hold(all: readonly Leased[], label: string | undefined, first: Observation | undefined): void {
    const observations = all.map((_, place) => (place === 0 ? first : first?.another()));
    try {
      all.forEach(({ lease }, place) => this.#connection.gate.hold(lease, label, observations[place]));
    } catch (error) {
      all.forEach(({ lease }) => void lease.release());
      observations.slice(1).forEach((observation) => observation?.missed(error));
      throw error;
    }
  }

  /** The time for the events of a queue. `undefined` while nobody listens to them. */
  get timeOfEvents(): number | undefined {
    return channels.queue.hasSubscribers ? now() : undefined;
  }

  /** Publishes an event of a queue. */
  publish({ since, ...event }: QueueAction): void {
    if (!channels.queue.hasSubscribers) return;
    const { origin } = this.#connection;
    const waitedMs = since === undefined ? undefined : now() - since;
    channels.queue.publish({ connection: origin.connection, origin, ...event, waitedMs });
  }

  /**
   * Returns `null` when the time ran out, or when `ask` did because it does not wait.
   * @throws LockShutdownError, `signal.reason`
   */
  async within<T>(what: Awaited, ask: (limits: Limits) => Promise<T | null>): Promise<T | null> {
    const { key, why } = what;
    const deadline = new Deadline(key, this.#waitMs(what), why);
    const wait = deadline.waits && !this.#stopping.aborted;
    try {
      const answer = await deadline.within([what.signal, wait ? this.#stopping : undefined], async (signal) => {
        signal.throwIfAborted();
        return ask({ wait, signal });
      });
      if (answer === null && deadline.waits && !wait) throw new LockShutdownError(key);
      return answer;
    } catch (error) {
      if (!deadline.isReasonOf(error)) throw error;
      const known = this.#connection.backend.explain?.(error) ?? error;
      if (known !== error) throw known;
      return null;
    }
  }

  /** Returns the answer. @throws LockTimeoutError instead of `null` */
  async answer<T>(what: Awaited, ask: (limits: Limits) => Promise<T | null>): Promise<T> {
    const answer = await this.within(what, ask);
    if (answer !== null) return answer;
    throw new LockTimeoutError(what.key, this.#waitMs(what), what.why);
  }

  /** Returns the answer to a request that waits for nothing but its reply. */
  async call<T>({ signal = NEVER }: CallOptions, ask: (limits: Limits) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    return ask({ wait: false, signal });
  }

  /** Whether the caller has given up, or the application shuts down. */
  isOver({ signal = NEVER }: CallOptions): boolean {
    return signal.aborted || this.#stopping.aborted;
  }

  /**
   * Returns the answer of `ask`, however long the servers are out of reach meanwhile. Returns `undefined` once the
   * caller has given up or the application shuts down.
   */
  async untilOver<T>(
    { signal = NEVER }: CallOptions,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    return withAnyAbort([signal, this.#stopping], async (limit) => {
      while (!limit.aborted) {
        try {
          return await ask(limit);
        } catch (error) {
          if (limit.aborted) return undefined;
          if (!(error instanceof LockUnavailableError)) throw error;
        }
        await pause(pauses.next(), limit).catch(() => {});
      }
      return undefined;
    });
  }

  #waitMs({ waitMs = this.#connection.waitMs }: WaitOptions): number {
    return this.#connection.gate.waitMsOf(waitMs);
  }
}

/** The limits of a call that may wait. */
export interface WaitOptions {
  /** The time to wait, in milliseconds; 0 asks once. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
  /** Ends the wait: it rejects with `signal.reason`, unchanged. */
  readonly signal?: AbortSignal | undefined;
}

/** The limits of a call that waits for no more than a reply. */
export type CallOptions = Pick<WaitOptions, 'signal'>;

const FIELDS = ['waitMs', 'signal'];

/** Checks the options. @throws LockConfigurationError that names the wrong field */
export function checkWaitOptions(options: WaitOptions, fields: readonly string[] = FIELDS, shortestMs = 0): void {
  checkFields('options', options, fields);
  const { waitMs, signal } = options;
  if (waitMs !== undefined) checkMs('waitMs', waitMs, shortestMs);
  checkSignal(signal);
}

/** Checks the options. @throws LockConfigurationError that names the wrong field */
export function checkCallOptions(options: CallOptions): void {
  checkWaitOptions(options, ['signal']);
}
