import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { after, backoff } from '../async/timer.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { LARGEST_VALUE_BYTES } from '../contract/record-store.js';

/** The leases that one process lost together, as they are recorded for the whole cluster. */
export interface RecordedLoss {
  readonly id: string;
  /** The time of the loss, by the clock of the process that held the leases. In ISO 8601. */
  readonly at: string;
  readonly service: string | undefined;
  readonly host: string;
  readonly pid: number;
  /** The reason that the log gives. */
  readonly reason: string;
  /** The number of lost leases. */
  readonly leases: number;
  /** The first of the lost leases. */
  readonly named: readonly { readonly key: string; readonly label: string | undefined }[];
}

const NAME = 'losses';
const MOST_LOSSES = 50;
const MOST_NAMED = 5;
const LONGEST_TEXT = 120;
const LONGEST_KEY = 1_024;
// All processes that an outage has hit come back at the same time.
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Records the latest losses of a cluster beside its locks, so that a command can list them after the process has ended.
 * All processes share one bounded record. A process writes it at most once a second, and tries again until it has; a
 * lock never waits for this.
 */
export class LossRecorder {
  readonly #backend: LockBackend;
  readonly #service: string | undefined;
  readonly #warn: (message: string) => void;
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #unrecorded: readonly RecordedLoss[] = [];
  #isTrying = false;
  #isClosed = false;
  #hasWarned = false;
  #cancel = () => {};

  constructor(backend: LockBackend, service: string | undefined, warn: (message: string) => void) {
    this.#backend = backend;
    this.#service = service;
    this.#warn = warn;
  }

  /** Records leases that were lost together. */
  add(leases: readonly GrantedLease[], reason: string): void {
    if (this.#isClosed) return;
    const named = leases.slice(0, MOST_NAMED).map(({ key, label }) => ({ key, label }));
    const by = { service: this.#service, host: hostname(), pid: process.pid };
    const at = new Date().toISOString();
    const loss = { id: randomUUID(), at, ...by, reason: clipped(reason), leases: leases.length, named };
    this.#unrecorded = [loss, ...this.#unrecorded].slice(0, MOST_LOSSES);
    if (!this.#isTrying) this.#tryLater();
  }

  /** Writes nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #tryLater(): void {
    this.#isTrying = true;
    this.#cancel = after(this.#pauses.next(), () => void this.#try(), 'unref');
  }

  async #try(): Promise<void> {
    const losses = this.#unrecorded;
    try {
      const { state, records } = this.#backend;
      const isReachable = records.isReachable ?? state === 'connected';
      if (isReachable && (await this.#isWritten(losses))) {
        this.#unrecorded = this.#unrecorded.filter((loss) => !losses.includes(loss));
        this.#pauses.reset();
      }
    } catch (error) {
      this.#failed(error);
    }
    this.#isTrying = false;
    if (this.#unrecorded.length > 0 && !this.#isClosed) this.#tryLater();
  }

  /** Adds losses to the record, unless another process writes it at the same time. */
  async #isWritten(losses: readonly RecordedLoss[]): Promise<boolean> {
    const { records } = this.#backend;
    const record = await records.read(NAME);
    // After a lost reply, they may be there.
    const ids = new Set(losses.map(({ id }) => id));
    const others = parsed(record?.value).filter(({ id }) => !ids.has(id));
    const value = encoded([...losses, ...others].slice(0, MOST_LOSSES));
    const write = await records.write([{ name: NAME, value, ifVersion: record?.version ?? 'absent' }]);
    return write.isApplied;
  }

  #failed(error: unknown): void {
    if (this.#hasWarned || this.#isClosed || error instanceof LockUnavailableError) return;
    this.#hasWarned = true;
    this.#warn(`losses cannot be recorded for the command "losses": ${String(error)}`);
  }
}

/**
 * Returns the latest losses of the cluster, the one that was recorded last first.
 * @throws LockUnavailableError, LockConfigurationError when the servers refuse it
 */
export async function recordedLosses(backend: LockBackend): Promise<readonly RecordedLoss[]> {
  const record = await backend.records.read(NAME);
  return parsed(record?.value);
}

/** The losses as a value, without the oldest ones where there is no room for them. */
function encoded(losses: readonly RecordedLoss[]): string {
  const value = JSON.stringify(losses);
  return Buffer.byteLength(value) <= LARGEST_VALUE_BYTES ? value : encoded(losses.slice(0, -1));
}

/** The losses of a record that any client may have written. An entry that does not look like one is left out. */
function parsed(value = '[]'): readonly RecordedLoss[] {
  if (value.length > LARGEST_VALUE_BYTES) return [];
  try {
    const losses: unknown = JSON.parse(value);
    return Array.isArray(losses) ? losses.slice(0, MOST_LOSSES).flatMap(lossOf) : [];
  } catch {
    return [];
  }
}

type Fields<T> = Partial<Record<keyof T, unknown>>;

function lossOf(value: unknown): RecordedLoss[] {
  const { id, at, service, host, pid, reason, leases, named } = Object(value) as Fields<RecordedLoss>;
  const time = Date.parse(String(at));
  if (typeof id !== 'string' || typeof host !== 'string' || typeof reason !== 'string') return [];
  if (typeof pid !== 'number' || typeof leases !== 'number' || Number.isNaN(time) || !Array.isArray(named)) return [];
  return [
    {
      id: clipped(id),
      at: new Date(time).toISOString(),
      service: typeof service === 'string' ? clipped(service) : undefined,
      host: clipped(host),
      pid,
      reason: clipped(reason),
      leases,
      named: named.slice(0, MOST_NAMED).flatMap(namedOf),
    },
  ];
}

function namedOf(value: unknown): RecordedLoss['named'] {
  const { key, label } = Object(value) as Fields<RecordedLoss['named'][number]>;
  if (typeof key !== 'string') return [];
  return [{ key: key.slice(0, LONGEST_KEY), label: typeof label === 'string' ? clipped(label) : undefined }];
}

function clipped(text: string): string {
  return text.slice(0, LONGEST_TEXT);
}
