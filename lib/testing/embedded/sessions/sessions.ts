import type { ServerClock } from './server-clock.js';
import { SessionIds } from './session-ids.js';
import type { Session } from './session.js';

/** What a server allows, in milliseconds. */
export interface SessionLimits {
  readonly tickTimeMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

/**
 * The open sessions. As in ZooKeeper a session ends at the first full tick after its timeout: never before it, and
 * within a tick of it.
 */
export class Sessions {
  readonly #clock: ServerClock;
  readonly #limits: SessionLimits;
  readonly #expired: (session: Session) => void;
  readonly #sessions = new Map<bigint, Session>();
  readonly #ids: SessionIds;
  #cancelTick: (() => void) | undefined;
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

  open(askedMs: number): Session {
    const id = this.#ids.next();
    const password = this.#ids.passwordOf(id);
    const session = {
      id,
      password,
      timeoutMs: this.granted(askedMs),
      deadlineMs: 0,
      isOpen: true,
      connection: undefined,
    };
    this.#sessions.set(id, session);
    this.touch(session);
    this.#awaitTick();
    return session;
  }

  /** The timeout that a client gets for the one it asks for. */
  granted(askedMs: number): number {
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.#limits;
    return Math.min(Math.max(askedMs, minSessionTimeoutMs), maxSessionTimeoutMs);
  }

  /** The client has said something. */
  touch(session: Session): void {
    const { tickTimeMs } = this.#limits;
    session.deadlineMs = (Math.floor((this.#clock.now() + session.timeoutMs) / tickTimeMs) + 1) * tickTimeMs;
  }

  remove(session: Session): void {
    session.isOpen = false;
    this.#sessions.delete(session.id);
  }

  /** No session ends until `resume()`: nobody is there who could decide it. */
  stand(): void {
    this.#isStanding = true;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  /** All start anew, as with a new leader. */
  resume(): void {
    this.#isStanding = false;
    for (const session of this.#sessions.values()) this.touch(session);
    this.#awaitTick();
  }

  #awaitTick(): void {
    if (this.#cancelTick || this.#isStanding || this.#sessions.size === 0) return;
    const { tickTimeMs } = this.#limits;
    let isCancelled = false;
    const cancel = this.#clock.after(tickTimeMs - (this.#clock.now() % tickTimeMs), () => {
      // Whose ping has arrived but has not been read is alive.
      this.#clock.whenRead(() => {
        if (!isCancelled) this.#tick();
      });
    });
    this.#cancelTick = () => {
      isCancelled = true;
      cancel();
    };
  }

  #tick(): void {
    this.#cancelTick = undefined;
    const now = this.#clock.now();
    for (const session of this.all()) if (session.isOpen && session.deadlineMs <= now) this.#expired(session);
    this.#awaitTick();
  }
}
