import type { Barriers, Cell, EnteredMember, EnterRequest, PassRequest } from '../../contract/coordination-backend.js';
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/granted-lease.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import { checkKey } from '../../contract/key.js';
import { nameOf } from '../../contract/lock-request.js';
import { explained } from '../client/redis-error.js';
import { ENTER, EXIT, INSIDE } from '../scripts/coordination-scripts.js';
import { ticksAt } from '../session/entry.js';
import { inSession } from '../session/in-session.js';
import { SessionEndedError } from '../session/redis-session.js';
import type { RedisSession } from '../session/redis-session.js';
import type { RedisSessions } from '../session/redis-sessions.js';
import { watchUntil } from '../session/topics.js';
import { RedisCells } from './cells.js';

const UP = Buffer.from('up');
const NOBODY = { told() {}, mayHaveMissed() {} };

/** Barriers are values that exist while the barrier is up. Double barriers are hashes of members. */
export class RedisBarriers implements Barriers {
  readonly #sessions: RedisSessions;
  readonly #cells: RedisCells;
  readonly #releaseTimeoutMs: number;

  constructor(sessions: RedisSessions, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#releaseTimeoutMs = releaseTimeoutMs;
    this.#cells = new RedisCells(sessions, 'barrier');
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
    let seen: Cell | undefined = await this.#cells.read(key, signal, name);
    while (seen && wait) seen = await this.#cells.next(key, seen, signal, name);
    return seen === undefined;
  }

  async enter(request: EnterRequest): Promise<EnteredMember> {
    const { signal } = request;
    const members = this.#membersOf(request.key);
    return inSession(this.#sessions, { ...request, wait: true, signal }, async (session) => {
      const number = session.enter(NOBODY);
      try {
        await this.#untilInside(session, members, number, request);
      } catch (error) {
        if (session.isOver) throw error;
        // A member that the others have counted has entered even when it gives up: they rely on it.
        const [, state] = await session.run(EXIT, [members], [number, '0']);
        if (state !== 'inside') throw error;
      } finally {
        session.forget(number);
      }
      return this.#entered(nameOf(request), session, members, number);
    });
  }

  async #untilInside(
    session: RedisSession,
    members: string,
    number: number,
    { count, signal }: EnterRequest,
  ): Promise<void> {
    const { topics, lookEveryMs } = this.#sessions;
    await watchUntil(topics, members, signal, async () => {
      const [, state, leftMs] = await session.run(ENTER, [members], [number, count], { signal });
      return state === 'inside' ? { found: true } : { againInMs: timeToLook(leftMs, lookEveryMs) };
    });
  }

  #entered(name: string, session: RedisSession, members: string, number: number): EnteredMember {
    const exit = async () => {
      leaveLeases();
      const left = session.run(EXIT, [members], [number, '1']).catch(() => {});
      if (session.isLinked) await settledWithin(left, this.#releaseTimeoutMs);
    };
    const lease = new GrantedLease({
      key: name,
      mode: 'read',
      fencingToken: fencingTokenOf(ticksAt(session.serverNow)),
      isCurrent: () => now() < session.deadline,
      giveBack: exit,
    });
    const leaveLeases = session.leases.add(lease);
    return { lease, leave: (signal) => this.#leave(lease, { session, members, number, signal }) };
  }

  /** Leaves, and waits for the members that were inside at that time. */
  async #leave(
    lease: GrantedLease,
    {
      session,
      members,
      number,
      signal,
    }: { session: RedisSession; members: string; number: number; signal: AbortSignal },
  ): Promise<void> {
    const { topics, lookEveryMs } = this.#sessions;
    const lost = () => new LockLostError(lease.key, 'the others were told that this one had left');
    if (!lease.isHeld()) throw lost();
    const look = async (current: RedisSession) => {
      const [, leftMs, ...inside] = await current.run(INSIDE, [members], [number], { signal });
      return { leftMs, inside: inside as string[] };
    };
    try {
      const { inside } = await look(session);
      const others = inside.filter((member) => member !== `${session.id}|${number}`);
      await lease.release();
      await watchUntil(topics, members, signal, () =>
        inSession(this.#sessions, { key: lease.key, wait: true, signal }, async (current) => {
          const { leftMs, inside: left } = await look(current);
          const isOut = !others.some((member) => left.includes(member));
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
    return this.#sessions.keys.of('members', key);
  }
}

/** @param leftMs the time after which a member may be over; -1: no particular time */
function timeToLook(leftMs: unknown, lookEveryMs: number): number {
  return Number(leftMs) < 0 ? lookEveryMs : Math.min(Number(leftMs), lookEveryMs);
}
