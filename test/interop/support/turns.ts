/**
 * Programs that alternate on one lock while now and then one of them is killed. The result has each holder, from when to
 * when, on the machine's monotonic clock. A kill ends everything that its program held at that moment.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { overlaps } from '../../../bench/support/tenures.js';
import type { ReentrantHold } from '../../../bench/support/tenures.js';
import { LockProgram } from './lock-program.js';
import type { Language, LockOn } from './lock-program.js';

/** One program and the lock that it acquires. */
export interface Party {
  readonly language: Language;
  readonly lock: LockOn;
  /** Kinds of which one is chosen at random each time, instead of `lock.kind`. */
  readonly kinds?: readonly string[];
}

export interface TurnsOptions {
  readonly connectString: string;
  readonly parties: readonly Party[];
  /** The run ends when the lock has changed between parties this many times. */
  readonly alternations: number;
  /** A program is killed after this many holds. */
  readonly killAfter: number;
  readonly onProgress?: (alternations: number, kills: number) => void;
}

export interface Outcome {
  readonly alternations: number;
  readonly kills: number;
  readonly killedHolding: number;
  readonly overlaps: number;
  readonly tenures: readonly PartyTenure[];
}

interface PartyTenure extends ReentrantHold {
  readonly party: number;
}

const SESSION_TIMEOUT_MS = 4_000;
// A killed program's session ends after its timeout. A wait that is much longer than that is stuck.
const STUCK_MS = 40_000;
const LONGEST_HOLD_MS = 4;
const LATEST_KILL_MS = 6;

/**
 * Lets the parties alternate. @throws Error when one of them is never granted the lock, or fails without having been
 * killed
 */
export async function takeTurns(options: TurnsOptions): Promise<Outcome> {
  const turns = new Turns(options);
  const parties = options.parties.map((party, number) => new PlayingParty(party, number, turns));
  turns.kill = () => parties[randomInt(parties.length)]?.kill() ?? Promise.resolve();
  try {
    await Promise.all(parties.map((party) => party.play()));
  } finally {
    await Promise.all(parties.map((party) => party.end()));
  }
  return turns.outcome();
}

class Turns {
  readonly connectString: string;
  readonly #options: TurnsOptions;
  readonly #tenures: PartyTenure[] = [];
  #alternations = 0;
  #kills = 0;
  #killedHolding = 0;
  #untilKill: number;
  #isFailed = false;
  kill: () => Promise<void> = async () => {};

  constructor(options: TurnsOptions) {
    this.connectString = options.connectString;
    this.#options = options;
    this.#untilKill = options.killAfter;
  }

  get isOver(): boolean {
    return this.#isFailed || this.#alternations >= this.#options.alternations;
  }

  failed(): void {
    this.#isFailed = true;
  }

  ended(tenure: PartyTenure, isKilled: boolean): void {
    if (this.#tenures.at(-1)?.party !== tenure.party) this.#alternations++;
    this.#tenures.push(tenure);
    if (isKilled) this.#killedHolding++;
    this.#options.onProgress?.(this.#alternations, this.#kills);
    if (isKilled || --this.#untilKill > 0) return;
    this.#untilKill = this.#options.killAfter;
    this.#kills++;
    void pause(randomInt(LATEST_KILL_MS)).then(() => this.kill());
  }

  outcome(): Outcome {
    const tenures = this.#tenures;
    const [alternations, kills, killedHolding] = [this.#alternations, this.#kills, this.#killedHolding];
    return { alternations, kills, killedHolding, overlaps: overlaps(tenures), tenures };
  }
}

const sharedNow = () => Number(process.hrtime.bigint());

class PlayingParty {
  readonly #party: Party;
  readonly #number: number;
  readonly #turns: Turns;
  #program: LockProgram;
  #killedAt: number | undefined;
  #killed: Promise<void> | undefined;

  constructor(party: Party, number: number, turns: Turns) {
    this.#party = party;
    this.#number = number;
    this.#turns = turns;
    this.#program = this.#start();
  }

  async play(): Promise<void> {
    try {
      while (!this.#turns.isOver) await this.#turn();
    } catch (error) {
      this.#turns.failed();
      throw error;
    }
  }

  async kill(): Promise<void> {
    this.#killedAt ??= sharedNow();
    await (this.#killed ??= this.#program.process.kill());
  }

  async end(): Promise<void> {
    await this.#program.process.kill();
  }

  async #turn(): Promise<void> {
    const { lock, kinds = [lock.kind] } = this.#party;
    const asked = { ...lock, kind: kinds[randomInt(kinds.length)] ?? lock.kind };
    let from: number | null = null;
    let releasedAt: number | undefined;
    try {
      from = await this.#program.acquire(asked, STUCK_MS);
      if (from === null) throw new Error(`${this.#party.language} is stuck: no ${asked.kind} within ${STUCK_MS} ms`);
      await pause(randomInt(LONGEST_HOLD_MS));
      // After a kill in the middle of a release, the exact end is unknown. The lock was held at least until now.
      releasedAt = sharedNow();
      this.#ended(asked, from, await this.#program.release(asked), false);
    } catch (error) {
      if (this.#killedAt === undefined) throw error;
      if (from !== null) this.#ended(asked, from, Math.min(this.#killedAt, releasedAt ?? Infinity), true);
      await this.#revive();
    }
  }

  #ended({ kind }: LockOn, from: number, to: number, isKilled: boolean): void {
    const tenure = { lock: 'the lock', from, to, isShared: kind === 'read', party: this.#number };
    this.#turns.ended(tenure, isKilled);
  }

  async #revive(): Promise<void> {
    await this.#killed;
    this.#killed = undefined;
    this.#killedAt = undefined;
    this.#program = this.#start();
  }

  #start(): LockProgram {
    return new LockProgram(this.#party.language, this.#turns.connectString, SESSION_TIMEOUT_MS);
  }
}
