import { randomUUID } from 'node:crypto';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import type { Place } from '../../async/collections.js';
import { after, settledWithin } from '../../async/timer.js';
import { LockConfigurationError, LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import type { Grant, LeaseFollower } from '../../contract/granted-lease.js';
import { nameOf } from '../../contract/lock-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { provenUntil } from '../../sessions/session-leases.js';
import { GIVE_PLAIN, RENEW_PLAIN, TAKE_PLAIN } from '../scripts/plain-scripts.js';
import { inSession } from '../session/in-session.js';
import { settled } from './settled.js';
import type { RedisSession } from '../session/redis-session.js';
import type { RedisSessions } from '../session/redis-sessions.js';

interface PlainOptions {
  /** The time for which the server keeps a lock that is not renewed. */
  readonly sessionTimeoutMs: number;
  readonly releaseTimeoutMs: number;
}

/**
 * Locks as other libraries write them: `SET key value NX PX time`, with a random value, which only its holder prolongs
 * and removes. They have no wait queue.
 */
export class PlainLocks {
  readonly #sessions: RedisSessions;
  readonly #options: PlainOptions;
  readonly #holds = new Set<PlainHold>();

  constructor(sessions: RedisSessions, options: PlainOptions) {
    this.#sessions = sessions;
    this.#options = options;
  }

  /** @throws LockConfigurationError for a request that such a lock cannot serve */
  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const { key, mode, line } = request;
    if (mode !== 'exclusive' || line !== 'none') throw notPlain(key);
    // Each session has a value of its own: the removal of what an earlier one may have left cannot hit a later grant.
    const hold = await inSession(this.#sessions, { ...request, wait: false }, (session, signal) =>
      this.#take(session, { name: nameOf(request), value: randomUUID(), keys: this.#keysOf(key) }, signal),
    );
    return hold?.lease ?? null;
  }

  /** Removes all locks that are held. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#holds].map((hold) => hold.lease.release()));
  }

  async #take(session: RedisSession, lock: PlainLock, signal: AbortSignal): Promise<PlainHold | null> {
    const { sessionTimeoutMs } = this.#options;
    for (;;) {
      const sentAt = now();
      try {
        const [word, rest] = await session.run(TAKE_PLAIN, lock.keys, [lock.value, sessionTimeoutMs], { signal });
        if (word === 'REFUSED') return null;
        if (word === 'GRANTED') return this.#held(session, lock, { token: BigInt(String(rest)), sentAt });
        await settled(Number(rest), lock.name, signal);
      } catch (error) {
        // The request may have been carried out, or may still be.
        void giveBack(this.#sessions, lock);
        throw error;
      }
    }
  }

  #held(session: RedisSession, lock: PlainLock, granted: { token: bigint; sentAt: number }): PlainHold {
    const hold = new PlainHold(this.#sessions, session, { ...lock, ...granted, ...this.#options });
    const over = () => void this.#holds.delete(hold);
    this.#holds.add(hold);
    hold.lease.addFollower({ ...IDLE, lose: over, releasing: over });
    return hold;
  }

  #keysOf(key: string): PlainLock['keys'] {
    return [key.slice(1), this.#sessions.keys.of('plain', key)];
  }
}

const IDLE: LeaseFollower = { suspend() {}, resume() {}, revoke() {}, lose() {} };

interface PlainLock {
  /** The key as the application wrote it. */
  readonly name: string;
  readonly value: string;
  /** The lock, and its last token. */
  readonly keys: readonly [lock: string, token: string];
}

/** A held lock. It is renewed by itself, and lost on its own clock. */
class PlainHold implements Grant {
  readonly mode = 'exclusive';
  readonly lease: GrantedLease;
  readonly fencingToken: bigint;
  readonly #sessions: RedisSessions;
  readonly #lock: PlainLock & PlainOptions;
  #sentAt: number;
  #session: RedisSession;
  #carried: Place<GrantedLease> | undefined;
  #cancel: Dispose = () => {};

  constructor(
    sessions: RedisSessions,
    session: RedisSession,
    { token, sentAt, ...lock }: PlainLock & PlainOptions & { readonly token: bigint; readonly sentAt: number },
  ) {
    this.#sessions = sessions;
    this.#session = session;
    this.#lock = lock;
    this.#sentAt = sentAt;
    this.fencingToken = fencingTokenOf(token);
    this.lease = new GrantedLease(this as Grant);
    this.lease.addFollower({ ...IDLE, lose: () => this.#stop() });
    // Suspended and resumed with the connection, and lost with the session at the latest.
    this.#carried = session.leases.add(this.lease);
    if (this.lease.state !== 'lost') this.#next();
  }

  get key(): string {
    return this.#lock.name;
  }

  isCurrent(): boolean {
    return now() < this.#deadline;
  }

  async giveBack(): Promise<void> {
    this.#stop();
    // Without a connection the lock ends by its expiry.
    await settledWithin(giveBack(this.#sessions, this.#lock), this.#lock.releaseTimeoutMs);
  }

  get #deadline(): number {
    return provenUntil(this.#sentAt, this.#lock.sessionTimeoutMs);
  }

  #stop(): void {
    this.#cancel();
    this.#carried?.leave();
  }

  #next(): void {
    const leftMs = this.#deadline - now();
    this.#cancel = after(Math.max(1, Math.min(leftMs, this.#lock.sessionTimeoutMs / 3)), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    // Compares the clock: a lock whose time has run out is lost, not renewed.
    if (!this.lease.isHeld()) return;
    const { keys, value, sessionTimeoutMs, name } = this.#lock;
    const session = this.#sessions.connected;
    const sentAt = now();
    this.#next();
    const answer = await session?.run(RENEW_PLAIN, keys, [value, sessionTimeoutMs]).catch(() => undefined);
    if (answer?.[0] === 'LOST') this.lease.lose(new LockLostError(name, 'its lock on the server is gone'));
    if (answer?.[0] !== 'KEPT' || !session || !this.lease.isHeld()) return;
    this.#sentAt = Math.max(this.#sentAt, sentAt);
    this.#moveTo(session);
  }

  #moveTo(session: RedisSession): void {
    if (session === this.#session) return;
    this.#carried?.leave();
    this.#session = session;
    this.#carried = session.leases.add(this.lease);
    this.lease.resume();
  }
}

/** Removes a lock. Never rejects: without a server it ends by its expiry. */
async function giveBack(sessions: RedisSessions, { keys, value, name }: PlainLock): Promise<void> {
  await inSession(sessions, { key: name, wait: false }, (session) => session.run(GIVE_PLAIN, keys, [value])).catch(
    () => {},
  );
}

/** The error for a request that only a key below the base path can serve. */
export function notPlain(key: string): LockConfigurationError {
  const limits = "needs `line: 'none'`, one key, and has neither readers, permits, contenders nor revocation";
  const instead = 'leave out the slash for a lock of redis() with all of them';
  return new LockConfigurationError(`"${key}": a key that begins with a slash ${limits}; ${instead}`, { key });
}
