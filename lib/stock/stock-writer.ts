/**
 * The writer of one process for one built-in stock. Commands that arrive during a transaction are all served in the
 * next one. So callers of one process never conflict with each other, and each process uses a segment of its own.
 *
 * There is no lock. A transaction is applied only if the segments that it changes are as they were known. So nothing is
 * sold twice, and a process that is killed has either sold or not. "Sold out" is read from all segments as they were at
 * one moment during the call.
 */
import { NEVER, onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import { backoff, pause } from '../async/timer.js';
import { LockConfigurationError } from '../contract/errors.js';
import { LARGEST_WRITE_BYTES, writeBytes } from '../contract/record-store.js';
import type { RecordChange, RecordStore } from '../contract/record-store.js';
import type { StockEvents } from './stock-events.js';
import type { StockSnapshot } from './stock-snapshot.js';
import type { Levels } from './stock-plan.js';

const MOST_ENTRIES = 32;
// A write is kept small: its names take up to three times their bytes in a request, and the numbers of a refund are
// longer than those of its sale.
const MOST_BYTES = LARGEST_WRITE_BYTES / 2;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

/** The plan of one command, given the levels. */
export type Planned<T> =
  | {
      /** The levels after the command. */
      readonly levels: Levels;
      /** The record change that makes the command happen only once. */
      readonly change: RecordChange;
      readonly outcome: T;
    }
  | {
      /** The levels to write before the command is planned again, because it does not fit into one write. */
      readonly moved: Levels;
    }
  | {
      /** The answer of a command that writes nothing. Called when the levels were so at one moment during the call. */
      readonly answer: () => T | Promise<T>;
    };

export interface PlanHints {
  /** The segment that this writer tries first. */
  readonly first: number;
  /** Grows with each attempt that failed because other writers were faster, and falls with each that did not. */
  readonly attempt: number;
  /** Whether these levels can be written, together with this change and with what is planned before. */
  readonly fits: (levels: Levels, change?: RecordChange) => boolean;
}

/** A command for the `StockWriter`. */
export interface StockCommand<T> {
  /**
   * The name of the record that makes the command happen only once. No two commands of one transaction may share it.
   */
  readonly recordName?: string;
  plan(levels: Levels, hints: PlanHints): Planned<T>;
  /** Called when the command's record was not as planned. Returns the outcome that the command already has. */
  contested?(): Promise<T>;
}

/** The outcomes of the commands that are written together. */
type Sales = ReadonlyMap<PendingCommand, unknown>;

interface Transaction {
  readonly changes: readonly RecordChange[];
  readonly levels: Levels;
  readonly sold: Sales;
  /** The answers of the commands that write nothing. */
  readonly asked: ReadonlyMap<PendingCommand, () => unknown>;
}

export class StockWriter {
  readonly #records: RecordStore;
  readonly #snapshot: StockSnapshot;
  readonly #random: () => number;
  readonly #events: StockEvents | undefined;
  /** The callers that are not being served, in their order. */
  readonly #line = new Set<PendingCommand>();
  #isOpen = false;
  #first: number;

  constructor(records: RecordStore, snapshot: StockSnapshot, random: () => number = Math.random, events?: StockEvents) {
    this.#records = records;
    this.#snapshot = snapshot;
    this.#random = random;
    this.#events = events;
    this.#first = this.#anySegment();
  }

  get isIdle(): boolean {
    return !this.#isOpen;
  }

  /**
   * Returns the command's outcome. Rejects with `signal.reason` when it aborts, unless the command is being written
   * then.
   */
  async serve<T>(entry: StockCommand<T>, signal: AbortSignal): Promise<T> {
    const caller = new PendingCommand(entry, signal);
    const outcome = caller.outcome() as Promise<T>;
    this.#line.add(caller);
    if (!this.#isOpen) void this.#open();
    try {
      return await outcome;
    } finally {
      // A caller may give up in the line.
      this.#line.delete(caller);
    }
  }

  async #open(): Promise<void> {
    this.#isOpen = true;
    // Commands of the same turn of the event loop are served together.
    await Promise.resolve();
    for (let next = this.#next(); next.length > 0; next = this.#next()) await this.#serveAll(next);
    this.#isOpen = false;
  }

  #next(): PendingCommand[] {
    const names = new Set<string>();
    const next: PendingCommand[] = [];
    for (const caller of this.#line) {
      if (next.length === MOST_ENTRIES) break;
      const { recordName } = caller.entry;
      if (caller.isOver || (recordName !== undefined && names.has(recordName))) continue;
      if (recordName !== undefined) names.add(recordName);
      next.push(caller);
    }
    next.forEach((caller) => this.#line.delete(caller));
    return next;
  }

  async #serveAll(all: readonly PendingCommand[]): Promise<void> {
    const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, this.#random);
    let [attempt, tries] = [0, 0];
    try {
      for (let left = all; left.length > 0; left = left.filter(({ isOver }) => !isOver)) {
        const conflict = await this.#attempt(left, attempt);
        const contested = left.find(({ entry }) => conflict !== undefined && entry.recordName === conflict);
        // If the caller has given up meanwhile, a rejection of `contested` would be unhandled.
        if (contested?.isOver) continue;
        if (contested) contested.settle(contested.entry.contested?.());
        else if (conflict !== undefined) {
          attempt++;
          await this.#moveOn(pauses.next(), ++tries);
        } else {
          // Further writes need not remain small when others write less.
          attempt = Math.max(0, attempt - 1);
          pauses.reset();
        }
      }
    } catch (error) {
      this.#snapshot.forget();
      await this.#failed(all, error);
    }
  }

  /** Fails the commands. If the write was refused for what one of them is, the others are served without it. */
  async #failed(all: readonly PendingCommand[], error: unknown): Promise<void> {
    const left = all.filter(({ isOver }) => !isOver);
    if (left.length < 2 || !(error instanceof LockConfigurationError)) return left.forEach((one) => one.fail(error));
    left.forEach((one) => one.refused());
    for (const one of left) await this.#serveAll([one]);
  }

  /**
   * Returns the name of the record that was not as planned. `undefined` when every command that could be served has its
   * outcome.
   */
  async #attempt(all: readonly PendingCommand[], attempt: number): Promise<string | undefined> {
    const isFresh = !this.#snapshot.isKnown;
    if (isFresh) await this.#snapshot.read();
    const present = all.filter(({ isOver }) => !isOver);
    const { changes, levels, sold, asked } = this.#plan(present, attempt);
    if (changes.length > 0) return this.#write(changes, levels, sold);
    // An answer from levels that were read before the command arrived is only a guess.
    if (!isFresh) this.#snapshot.forget();
    else for (const [caller, answer] of asked) caller.settle(answer());
    return undefined;
  }

  async #write(changes: readonly RecordChange[], levels: Levels, sold: Sales): Promise<string | undefined> {
    const sent = [...sold.keys()];
    sent.forEach((caller) => caller.sent());
    const write = await this.#records.write(changes);
    if (!write.isApplied) {
      sent.forEach((caller) => caller.refused());
      return write.conflict;
    }
    this.#snapshot.written(levels, write.records);
    for (const [caller, outcome] of sold) caller.settle(outcome);
    return undefined;
  }

  /** Plans as many of the commands as fit into one write. The others are served by a later one. */
  #plan(all: readonly PendingCommand[], attempt: number): Transaction {
    const sold = new Map<PendingCommand, unknown>();
    const asked = new Map<PendingCommand, () => unknown>();
    const own: RecordChange[] = [];
    const known = this.#snapshot.levels;
    let levels = known;
    for (const caller of all) {
      const fits = (after: Levels, change?: RecordChange) => this.#fits(after, change ? [...own, change] : own);
      const plan = caller.entry.plan(levels, { first: this.#first, attempt, fits });
      if ('answer' in plan) {
        asked.set(caller, plan.answer);
        continue;
      }
      const [after, change] = 'moved' in plan ? [plan.moved] : [plan.levels, plan.change];
      if (levels !== known && !fits(after, change)) break;
      levels = after;
      if ('moved' in plan) continue;
      sold.set(caller, plan.outcome);
      own.push(plan.change);
    }
    return { changes: [...this.#snapshot.changesTo(levels), ...own], levels, sold, asked };
  }

  /** @param own the changes of the records of commands */
  #fits(levels: Levels, own: readonly RecordChange[]): boolean {
    const { mostChanges = Infinity } = this.#records;
    const changes = [...this.#snapshot.changesTo(levels), ...own];
    return changes.length <= mostChanges && writeBytes(changes) <= MOST_BYTES;
  }

  /** Chooses another segment after a conflict: another process may use this one. */
  async #moveOn(pauseMs: number, tries: number): Promise<void> {
    this.#events?.publish('conflict', 0, 0, tries);
    this.#snapshot.forget();
    this.#first = this.#anySegment();
    if (tries > 1) await pause(pauseMs, NEVER);
  }

  #anySegment(): number {
    return Math.floor(this.#random() * 2 ** 20);
  }
}

/** A command that waits for its outcome. */
class PendingCommand {
  readonly entry: StockCommand<unknown>;
  readonly #signal: AbortSignal;
  readonly #outcome = deferred<unknown>();
  #isOver = false;
  #isSent = false;

  constructor(entry: StockCommand<unknown>, signal: AbortSignal) {
    this.entry = entry;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Rejects with the signal's reason when it aborts, unless the command is being written then. */
  async outcome(): Promise<unknown> {
    const dispose = onAbort(this.#signal, () => this.#giveUp());
    return this.#outcome.promise.finally(dispose);
  }

  /** Marks the command as sent. Its outcome is unknown until the reply, so the caller cannot give up before that. */
  sent(): void {
    this.#isSent = true;
  }

  /** Marks the command as not written. */
  refused(): void {
    this.#isSent = false;
    if (this.#signal.aborted) this.#giveUp();
  }

  settle(outcome: unknown): void {
    this.#isOver = true;
    this.#outcome.resolve(outcome);
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#outcome.reject(error);
  }

  #giveUp(): void {
    if (!this.#isSent && !this.#isOver) this.fail(this.#signal.reason);
  }
}
