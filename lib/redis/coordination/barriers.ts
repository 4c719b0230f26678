import type { Barriers, EnteredMember, EnterRequest, PassRequest } from '../../contract/coordination-backend.js';
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/granted-lease.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import { checkKey } from '../../contract/key.js';
import { nameOf } from '../../contract/lock-request.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { explained, isMoving } from '../client/redis-error.js';
import { ENTER, EXIT, INSIDE } from '../scripts/coordination-scripts.js';
import { ticksAt } from '../session/entry.js';
import { inSession } from '../session/in-session.js';
import type { RedisSession } from '../session/redis-session.js';
import type { RedisSessions } from '../session/redis-sessions.js';
import type { RedisShards } from '../session/redis-shards.js';
import { watchUntil } from '../session/topics.js';
import { RedisCells } from './cells.js';

const UP = Buffer.from('up');
const NOBODY = { told() {}, mayHaveMissed() {} };

/** A member of a double barrier, and where it is stored. */
interface Member {
  readonly sessions: RedisSessions;
  readonly session: RedisSession;
  readonly members: string;
  readonly number: number;
}

/** Barriers are values that exist while the barrier is up. Double barriers are hashes of members. */
export class RedisBarriers implements Barriers {
  readonly #shards: RedisShards;
  readonly #cells: RedisCells;
  readonly #releaseTimeoutMs: number;

  constructor(shards: RedisShards, releaseTimeoutMs: number) {
    this.#shards = shards;
    this.#releaseTimeoutMs = releaseTimeoutMs;
    this.#cells = new RedisCells(shards, 'barrier');
  }

  async raise(key: string, signal: AbortSignal, name = key): Promise<void> {
    await this.#cells.write(key, { data: UP, ifVersion: 'absent' }, signal, name);
  }

  async lift(key: string, signal: AbortSignal, name = key): Promise<void> {
    await this.#cells.write(key, { data: undefined }, signal, name);
  }

  async pass(request: PassRequest): Promise<boolean> {
    const { key, wait, signal } = request;
    const name = nameOf(request);
    const seen = await this.#cells.read(key, signal, name);
    if (!seen || !wait) return !seen;
    await this.#cells.until(key, { key: name, wait, isContinued: true, signal }, (found) => !found);
    return true;
  }

  async enter(request: EnterRequest): Promise<EnteredMember> {
    const { signal } = request;
    const members = this.#membersOf(request.key);
    const sessions = this.#shards.of(request.key);
    return inSession(sessions, { ...request, wait: true, signal }, async (session) => {
      const number = session.enter(NOBODY);
      try {
        await this.#untilInside({ sessions, session, members, number }, request);
      } catch (error) {
        if (session.isOver) throw error;
        // A member that the others have counted has entered even when it gives up: they rely on it. After a refusal
        // nobody knows, and it leaves.
        const [, state] = await session.run(EXIT, [members], [number, '0']).catch(async () => {
          const gone = exit(session, members, number);
          // The next attempt enters under another number.
          if (isMoving(error)) await gone;
          throw error;
        });
        if (state !== 'inside') throw error;
      } finally {
        session.forget(number);
      }
      return this.#entered(nameOf(request), { sessions, session, members, number });
    });
  }

  async #untilInside({ sessions, session, members, number }: Member, { count, signal }: EnterRequest): Promise<void> {
    const { topics, lookEveryMs } = sessions;
    await watchUntil(topics, members, signal, async () => {
      const [, state, leftMs] = await session.run(ENTER, [members], [number, count], { signal });
      return state === 'inside' ? { found: true } : { againInMs: timeToLook(leftMs, lookEveryMs) };
    });
  }

  #entered(name: string, member: Member): EnteredMember {
    const { session, members, number } = member;
    const giveBack = async () => {
      carried.leave();
      const left = exit(session, members, number);
      if (session.isLinked) await settledWithin(left, this.#releaseTimeoutMs);
    };
    const lease = new GrantedLease({
      key: name,
      mode: 'read',
      fencingToken: fencingTokenOf(ticksAt(session.serverNow)),
      isCurrent: () => now() < session.deadline,
      giveBack,
    });
    const carried = session.leases.add(lease);
    return { lease, leave: (signal) => this.#leave(lease, member, signal) };
  }

  /** Leaves, and waits for the members that were inside at that time. */
  async #leave(
    lease: GrantedLease,
    { sessions, session, members, number }: Member,
    signal: AbortSignal,
  ): Promise<void> {
    const { topics, lookEveryMs } = sessions;
    const lost = () => new LockLostError(lease.key, 'the others were told that this one had left');
    if (!lease.isHeld()) throw lost();
    const look = async (current: RedisSession) => {
      const values = [number, session.server];
      const [word, leftMs, ...inside] = await current.run(INSIDE, [members], values, { signal });
      return { isKnown: word === 'INSIDE', leftMs, inside: inside as string[] };
    };
    try {
      const { inside } = await look(session);
      const others = inside.filter((member) => member !== `${session.id}|${number}`);
      await lease.release();
      await watchUntil(topics, members, signal, () =>
        inSession(sessions, { key: lease.key, wait: true, isContinued: true, signal }, async (current) => {
          const { isKnown, leftMs, inside: left } = await look(current);
          const isOut = isKnown && !others.some((member) => left.includes(member));
          return isOut ? { found: true } : { againInMs: timeToLook(leftMs, lookEveryMs) };
        }),
      );
    } catch (error) {
      await lease.release();
      throw error instanceof SessionEndedError ? lost() : explained(error, lease.key);
    }
  }

  #membersOf(key: string): string {
    checkKey(key);
    return this.#shards.of(key).keys.of('members', key);
  }
}

/** @param leftMs the time after which a member may be over; -1: no particular time */
function timeToLook(leftMs: unknown, lookEveryMs: number): number {
  return Number(leftMs) < 0 ? lookEveryMs : Math.min(Number(leftMs), lookEveryMs);
}

/** Removes a member, also one that others have counted. Never rejects. */
const exit = (session: RedisSession, members: string, number: number): Promise<void> =>
  session.persistently(() => session.run(EXIT, [members], [number, '1']));
