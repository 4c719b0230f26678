import { createHmac, randomBytes } from 'node:crypto';
import type { ServerClock } from './server-clock.js';
import type { Session } from './session.js';

const PASSWORD_BYTES = 16;

/** The limits of a server, in milliseconds. */
export interface SessionLimits {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** The time from a session's timeout to its end. Without it, a session ends at the next full tick. */
  readonly expiryDelayMs?: (() => number) | undefined;
}

/**
 * The open sessions. As in ZooKeeper, a session ends at the first full tick after its timeout: never before it, and
 * within a tick of it.
 */
export class Sessions {
  readonly #clock: ServerClock;
  readonly #limits: SessionLimits;
  readonly #expired: (session: Session) => void;
  readonly #sessions = new Map<bigint, Session>();
  readonly #ids: SessionIds;
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  #isStanding = false;

  constructor(clock: ServerClock, limits: SessionLimits, expired: (session: Session) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
    this.#ids = new SessionIds(clock.wall());
  }

  get size(): number {
    return this.#sessions.size;
  }

  all(): Session[] {
    return [...this.#sessions.values()];
  }

  get(id: bigint): Session | undefined {
    return this.#sessions.get(id);
  }

  open(askedMs: number, owner: object): Session {
    const id = this.#ids.next();
    const timeoutMs = this.#granted(askedMs);
    const session: Session = {
      id,
      password: this.#ids.passwordOf(id),
      firstTimeoutMs: timeoutMs,
      timeoutMs,
      touchedMs: 0,
      deadlineMs: 0,
      isOpen: true,
      isEnding: false,
      owner,
      connection: undefined,
    };
    this.#sessions.set(id, session);
    this.touch(session);
    return session;
  }

  /** Whether the password belongs to the session. Every server can decide this by itself. */
  isPassword(id: bigint, password: Buffer): boolean {
    return this.#ids.passwordOf(id).equals(password);
  }

  /** Called when a client has reconnected through `owner`. Returns `undefined` when the session is over. */
  renew(id: bigint, askedMs: number, owner: object): Session | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.isEnding) return undefined;
    session.owner = owner;
    session.timeoutMs = this.#granted(askedMs);
    this.touch(session);
    return session;
  }

  /**
   * Whether a request of the session may come from `owner`. With a new leader, the first server that asks becomes the
   * owner.
   */
  claim(session: Session, owner: object): boolean {
    session.owner ??= owner;
    return session.owner === owner;
  }

  /** Called when the client has sent something. */
  touch(session: Session): void {
    if (!session.isOpen || session.isEnding) return;
    session.touchedMs = this.#clock.now();
    session.deadlineMs = this.#deadlineAfter(session.touchedMs + session.timeoutMs);
    this.#await(session.deadlineMs);
  }

  remove(session: Session): void {
    session.isOpen = false;
    this.#sessions.delete(session.id);
  }

  /** Suspends expiry until `resume()` or `goOn()`: there is no server that could decide it. */
  stand(): void {
    this.#isStanding = true;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  /**
   * Resumes expiry and starts all sessions anew, as with a new leader. It starts from their first timeouts, not from
   * those that were granted since.
   */
  resume(): void {
    this.#isStanding = false;
    for (const session of this.all()) {
      session.isEnding = false;
      session.owner = undefined;
      session.timeoutMs = session.firstTimeoutMs;
      this.touch(session);
    }
  }

  /**
   * Resumes expiry after `stand()`, as if time had continued. Sessions whose time has passed end before any client is
   * read.
   */
  goOn(): void {
    this.#isStanding = false;
    this.#expire();
  }

  /** Returns the timeout that is granted for the requested one. */
  #granted(askedMs: number): number {
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.#limits;
    return Math.min(Math.max(askedMs, minSessionTimeoutMs), maxSessionTimeoutMs);
  }

  #deadlineAfter(earliestMs: number): number {
    const { expiryDelayMs } = this.#limits;
    return expiryDelayMs ? earliestMs + expiryDelayMs() : this.#tickAfter(earliestMs);
  }

  #tickAfter(ms: number): number {
    const { tickTimeMs } = this.#limits;
    return (Math.floor(ms / tickTimeMs) + 1) * tickTimeMs;
  }

  #await(deadlineMs: number): void {
    // At every tick, too: this is how a running clock detects how long this process was too busy to read.
    const at = Math.min(deadlineMs, this.#tickAfter(this.#clock.now()));
    if (this.#isStanding || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.cancel();
    let isCancelled = false;
    const cancel = this.#clock.after(Math.max(at - this.#clock.now(), 0), () => {
      // A client whose ping has arrived but has not been read is alive.
      this.#clock.whenRead(() => {
        if (!isCancelled) this.#expire();
      });
    });
    this.#alarm = {
      at,
      cancel: () => {
        isCancelled = true;
        cancel();
      },
    };
  }

  #expire(): void {
    this.#alarm = undefined;
    const now = this.#clock.now();
    for (const session of this.all()) {
      if (session.isOpen && !session.isEnding && session.deadlineMs <= now) this.#end(session);
    }
    const next = Math.min(...this.all().flatMap((one) => (one.isEnding ? [] : one.deadlineMs)));
    if (next !== Infinity) this.#await(next);
  }

  #end(session: Session): void {
    session.isEnding = true;
    this.#expired(session);
  }
}

/** Session ids that no other start of a server has used, and the passwords that belong to them. */
class SessionIds {
  readonly #secret = randomBytes(PASSWORD_BYTES);
  #next: bigint;

  constructor(startedAt: number) {
    // As in ZooKeeper: the number of the server in the top byte, 40 bits of the time in milliseconds, then a count.
    this.#next = (1n << 56n) | ((BigInt(Math.floor(startedAt)) << 16n) & 0xff_ffff_ffff_0000n);
  }

  next(): bigint {
    this.#next += 1n;
    return this.#next;
  }

  passwordOf(id: bigint): Buffer {
    return createHmac('sha256', this.#secret).update(String(id)).digest().subarray(0, PASSWORD_BYTES);
  }
}
