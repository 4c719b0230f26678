import type { Barriers, EnteredMember, EnterRequest, PassRequest } from '../../contract/coordination-backend.js';
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import { LockConfigurationError, LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import { checkKey } from '../../contract/key.js';
import { nameOf } from '../../contract/lock-request.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { explained } from '../client/etcd-error.js';
import { rangeBelow } from '../session/etcd-keys.js';
import { isRefusal } from '../session/etcd-session.js';
import type { ChangeCall, DoubtedCall, EtcdSession } from '../session/etcd-session.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import { inSession } from '../session/in-session.js';
import { watchUntil } from '../session/watches.js';
import type { Look } from '../session/watches.js';
import type { KeyValue } from '../wire/responses.js';
import { EtcdCells } from './cells.js';

const UP = Buffer.from('up');
const WAITING = 'waiting';
const INSIDE = 'inside';
/** All members are let in by one transaction. */
const MOST_MEMBERS = 100;

/** Barriers are values that exist while the barrier is up. The members of a double barrier are keys, each waiting or inside. */
export class EtcdBarriers implements Barriers {
  readonly #sessions: EtcdSessions;
  readonly #cells: EtcdCells;
  readonly #releaseTimeoutMs: number;

  constructor(sessions: EtcdSessions, releaseTimeoutMs: number) {
    this.#sessions = sessions;
    this.#releaseTimeoutMs = releaseTimeoutMs;
    this.#cells = new EtcdCells(sessions, 'barrier');
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
    const { key, count, signal } = request;
    checkKey(key);
    if (count > MOST_MEMBERS) {
      const text = `etcd() has double barriers of at most ${MOST_MEMBERS} members, this one has ${count}`;
      throw new LockConfigurationError(text, { key: nameOf(request) });
    }
    const members = this.#sessions.keys.below('members', key);
    return inSession(this.#sessions, { ...request, wait: true, signal }, async (session) => {
      const member = members + session.takeName();
      const call: DoubtedCall = { signal, doubt: { isSo: false } };
      let hasJoined = false;
      try {
        await join(session, member, call);
        hasJoined = true;
        await this.#untilInside(session, members, member, count, signal);
      } catch (error) {
        if (session.isOver) throw error;
        if (!hasJoined && isRefusal(error, call.doubt)) {
          session.giveNameBack(member);
          throw error;
        }
        // A member that the others have counted has entered even when it gives up: they rely on it.
        if (!(await staysInside(session, member, call.sent))) throw error;
      }
      return this.#entered(nameOf(request), session, members, member);
    });
  }

  async #untilInside(
    session: EtcdSession,
    members: string,
    member: string,
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { watches, lookEveryMs } = this.#sessions;
    await watchUntil(watches, rangeBelow(members), signal, async (): Promise<Look<boolean>> => {
      for (;;) {
        const { found, revision } = await membersOf(session, members, signal);
        const own = found.find(({ key }) => key === member);
        if (!own) throw new SessionEndedError('its entry is gone');
        if (isInside(own)) return { found: true };
        const waiting = found.filter((one) => !isInside(one));
        if (waiting.length === found.length && waiting.length < count) return { againInMs: lookEveryMs };
        await letIn(session, members, waiting.slice(0, MOST_MEMBERS), revision, signal);
      }
    });
  }

  #entered(name: string, session: EtcdSession, members: string, member: string): EnteredMember {
    const exit = async () => {
      carried.leave();
      const left = session.removeEntry(member);
      if (session.isLinked) await settledWithin(left, this.#releaseTimeoutMs);
    };
    const lease = new GrantedLease({
      key: name,
      mode: 'read',
      fencingToken: fencingTokenOf(BigInt(Date.now())),
      isCurrent: () => now() < session.deadline,
      giveBack: exit,
    });
    const carried = session.leases.add(lease);
    return { lease, leave: (signal) => this.#leave(lease, session, members, member, signal) };
  }

  /** Leaves, and waits for the members that were inside at that time. */
  async #leave(
    lease: GrantedLease,
    session: EtcdSession,
    members: string,
    member: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { watches, lookEveryMs } = this.#sessions;
    const lost = () => new LockLostError(lease.key, 'the others were told that this one had left');
    if (!lease.isHeld()) throw lost();
    try {
      const { found } = await membersOf(session, members, signal);
      const others = found.filter((one) => isInside(one) && one.key !== member);
      await lease.release();
      await watchUntil(watches, rangeBelow(members), signal, () =>
        inSession(this.#sessions, { key: lease.key, wait: true, isContinued: true, signal }, async (current) => {
          const { found: left } = await membersOf(current, members, signal);
          // Names are used again: one that has entered once more is another member.
          const isOut = !others.some((other) =>
            left.some(({ key, created }) => key === other.key && created === other.created),
          );
          return isOut ? { found: true } : { againInMs: lookEveryMs };
        }),
      );
    } catch (error) {
      await lease.release();
      throw error instanceof SessionEndedError ? lost() : explained(error, lease.key);
    }
  }
}

function isInside({ value }: KeyValue): boolean {
  return value.toString() === INSIDE;
}

async function join(session: EtcdSession, member: string, call: ChangeCall): Promise<void> {
  const compare = [{ key: member, property: 'created', is: 'equal', than: 0 } as const];
  const success = [{ kind: 'put', key: member, value: WAITING, lease: session.lease } as const];
  await session.change({ about: [member], compare, success, failure: [] }, call);
}

async function membersOf(
  session: EtcdSession,
  members: string,
  signal: AbortSignal,
): Promise<{ readonly found: readonly KeyValue[]; readonly revision: number }> {
  const read = { kind: 'read', ...rangeBelow(members), inOrderOf: 'creation' } as const;
  const { results, revision } = await session.read([read], signal);
  return { found: results[0]?.found ?? [], revision };
}

/** Lets members in, unless the members have changed since they were seen. */
async function letIn(
  session: EtcdSession,
  members: string,
  waiting: readonly KeyValue[],
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  // A member that has left since is not to be counted, and cannot be written: its lease is gone with it.
  const stand = waiting.map(
    ({ key, modified }) => ({ key, property: 'modified', is: 'equal', than: modified }) as const,
  );
  const success = waiting.map(({ key }) => ({ kind: 'put', key, value: INSIDE, lease: 'same' }) as const);
  const unchanged = { ...rangeBelow(members), property: 'modified', is: 'less', than: revision + 1 } as const;
  await session.change({ about: [members], compare: [unchanged, ...stand], success, failure: [] }, { signal });
}

/** Removes a member that waits. Returns whether it is gone; `false` when it is inside. */
async function leaveIfWaiting(session: EtcdSession, member: string): Promise<boolean> {
  const first = { key: member, property: 'version', is: 'less', than: 2 } as const;
  const success = [{ kind: 'delete', key: member } as const];
  return (await session.change({ about: [member], compare: [first], success, failure: [] })).isMet;
}

/**
 * Removes a member that gives up, unless it is inside. Returns whether it is. Never rejects.
 * @param sent settles when it cannot enter any more
 */
async function staysInside(session: EtcdSession, member: string, sent: Promise<unknown> | undefined): Promise<boolean> {
  await sent?.catch(() => {});
  const isGone = await leaveIfWaiting(session, member).catch(() => undefined);
  if (session.isOver) return false;
  if (isGone) session.giveNameBack(member);
  // After a refusal nobody knows, and it leaves.
  else if (isGone === undefined) void session.removeEntry(member);
  return isGone === false;
}
