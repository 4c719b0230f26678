import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { backoff, pause } from '../async/timer.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { LARGEST_VALUE_BYTES } from '../contract/record-store.js';
import { MOST_NAMED } from './ended-leases.js';

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
  readonly named: readonly { readonly key: string; readonly label?: string | undefined }[];
}

const NAME = 'losses';
const MOST_LOSSES = 50;
const LONGEST_TEXT = 120;
const MOST_TRIES = 8;

/**
 * Records the latest losses of a cluster beside its locks, so that a command can list them after the process has ended.
 * All processes share one bounded record. A loss is recorded when the servers can be reached again, if the process
 * still runs by then. A lock never waits for this.
 */
export class LossRecorder {
  readonly #backend: LockBackend;
  readonly #service: string | undefined;
  readonly #warn: (message: string) => void;
  readonly #closing = new AbortController();
  #unrecorded: RecordedLoss[] = [];
  #isWriting = false;

  constructor(backend: LockBackend, service: string | undefined, warn: (message: string) => void) {
    this.#backend = backend;
    this.#service = service;
    this.#warn = warn;
  }

  /** Records leases that were lost together. */
  add(leases: readonly GrantedLease[], reason: string): void {
    const named = leases.slice(0, MOST_NAMED).map(({ key, label }) => ({ key: clipped(key), label: clipped(label) }));
    const by = { service: this.#service, host: clipped(hostname()), pid: process.pid };
    const at = new Date().toISOString();
    this.#unrecorded.push({ id: randomUUID(), at, ...by, reason: clipped(reason), leases: leases.length, named });
    this.#unrecorded = this.#unrecorded.slice(-MOST_LOSSES);
    this.flush();
  }

  /** Writes what is not recorded yet, if the servers can be reached. To be called when they can be reached again. */
  flush(): void {
    const { signal } = this.#closing;
    if (this.#isWriting || this.#unrecorded.length === 0 || signal.aborted) return;
    if (this.#backend.state !== 'connected') return;
    void this.#write(signal).catch((error: unknown) => this.#failed(error));
  }

  /** Writes nothing any more. */
  close(): void {
    this.#closing.abort(new Error('closed'));
  }

  async #write(signal: AbortSignal): Promise<void> {
    // All processes that an outage has hit come back at the same time.
    const pauses = backoff(50, 5_000);
    this.#isWriting = true;
    try {
      for (let tries = 0; tries < MOST_TRIES && this.#unrecorded.length > 0; tries++) {
        const written = this.#unrecorded;
        if (await this.#isWritten(written)) this.#unrecorded = this.#unrecorded.filter((one) => !written.includes(one));
        else await pause(pauses.next(), signal);
      }
    } finally {
      this.#isWriting = false;
    }
  }

  /** Adds losses to the record, unless another process writes it at the same time. */
  async #isWritten(losses: readonly RecordedLoss[]): Promise<boolean> {
    const { records } = this.#backend;
    const record = await records.read(NAME);
    const value = encoded(latest([...losses, ...parsed(record?.value)]));
    const write = await records.write([{ name: NAME, value, ifVersion: record?.version ?? 'absent' }]);
    return write.isApplied;
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted || error instanceof LockUnavailableError) return;
    // For want of rights, say. The next loss would fail in the same way.
    this.close();
    this.#warn(`losses cannot be recorded for the command "losses": ${String(error)}`);
  }
}

/** Returns the latest losses of the cluster that were recorded, the latest first. @throws LockUnavailableError */
export async function recordedLosses(backend: LockBackend): Promise<readonly RecordedLoss[]> {
  const record = await backend.records.read(NAME);
  return latest(parsed(record?.value));
}

/** The latest losses. One whose reply was lost is written again, and has the same id. */
function latest(losses: readonly RecordedLoss[]): readonly RecordedLoss[] {
  const byId = new Map(losses.map((loss) => [loss.id, loss]));
  return [...byId.values()].toSorted((one, other) => other.at.localeCompare(one.at)).slice(0, MOST_LOSSES);
}

/** The losses as a value, without the oldest ones where there is no room for them. */
function encoded(losses: readonly RecordedLoss[]): string {
  const value = JSON.stringify(losses);
  return Buffer.byteLength(value) <= LARGEST_VALUE_BYTES ? value : encoded(losses.slice(0, -1));
}

/** The losses of a record that any client may have written. What does not look like one is left out. */
function parsed(value = '[]'): readonly RecordedLoss[] {
  try {
    const losses: unknown = JSON.parse(value);
    return Array.isArray(losses) ? losses.filter(isLoss) : [];
  } catch {
    return [];
  }
}

function isLoss(value: unknown): value is RecordedLoss {
  const { id, at, host, pid, reason, leases, named } = Object(value) as Partial<Record<keyof RecordedLoss, unknown>>;
  const areTexts = [id, at, host, reason].every((field) => typeof field === 'string');
  const areKeys = Array.isArray(named) && named.every((one) => typeof Object(one).key === 'string');
  const areNumbers = typeof pid === 'number' && typeof leases === 'number';
  return areTexts && areKeys && areNumbers && !Number.isNaN(Date.parse(String(at)));
}

function clipped(text: string): string;
function clipped(text: string | undefined): string | undefined;
function clipped(text: string | undefined): string | undefined {
  return text?.slice(0, LONGEST_TEXT);
}
