import type { Fault, Hold } from '../../robustness/model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import { wasClosedOnPurpose } from '../../robustness/validate/closed-sessions.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn, isDone, isOpen } from '../model/history.js';
import type { CallAsking, MadeCall, SimulationHistory } from '../model/history.js';
import type { Call } from '../model/call.js';

type BarrierCall = MadeCall<Extract<Call, { on: 'double barrier' }>>;
type Enter = MadeCall<CallAsking<BarrierCall['call'], 'enter'>>;
type Leave = MadeCall<CallAsking<BarrierCall['call'], 'leave'>>;

/** A member that entered, or may have been counted. */
interface Member {
  readonly enter: Enter;
  readonly leave: Leave | undefined;
  readonly hold: Hold | undefined;
  /** The latest time at which the member was out. */
  readonly outBy: number;
}

/** Durations in milliseconds. */
interface Times {
  /** The maximum duration of a call of the traffic. */
  readonly callMs: number;
  /** The time after a fault, or a death, until nothing of it is left. */
  readonly calmMs: number;
  /** The time after a fault until a process knows what has become of its session. */
  readonly noticeMs?: number | undefined;
}

/**
 * A double barrier opens only with all members:
 * - A member inside came while there were enough that may have been counted, or while one of those was still inside.
 * - A member that gave up is not counted.
 * - A member that has left in order has outlasted all that were inside with it.
 */
export function checkDoubleBarriers(
  history: Pick<SimulationHistory, 'calls' | 'holds' | 'faults'>,
  times: Times,
): Finding[] {
  const holds = new Map(history.holds.filter(({ kind }) => kind === 'member').map((hold) => [hold.call, hold]));
  return byKey(callsOn(history, 'double barrier').map((one) => ({ ...one, key: one.call.key }))).flatMap((calls) => {
    const leaves = new Map(
      [...asking(calls, 'leave'), ...asking(calls, 'go out')].map((one) => [one.call.member, one]),
    );
    const members = asking(calls, 'enter')
      .filter((one) => isDone(one) || mayBeCounted(one, history.faults, times))
      .map((enter) => {
        const member = { enter, leave: leaves.get(enter.id), hold: holds.get(enter.id) };
        return { ...member, outBy: outBy(member, history.faults, times) };
      });
    return [
      ...members.filter(({ enter }) => isDone(enter)).flatMap((member) => openedAlone(member, members)),
      ...members.flatMap((member) => leftEarly(member, members, history.faults)),
    ];
  });
}

/** A session cannot come to be in doubt in less time than this. */
const DOUBTFUL_AFTER_MS = 300;

/**
 * Whether a member that was told that it gave up may have been counted. It was not, unless its session was in doubt or
 * over. A session was in doubt where giving up took long. It was also in doubt where its process or the servers had a
 * fault while it waited, or shortly before.
 */
function mayBeCounted(enter: Enter, faults: readonly Fault[], { calmMs, noticeMs = calmMs }: Times): boolean {
  if (isOpen(enter) && enter.answer?.outcome !== 'aborted') return true;
  const { process, calledAt, returnedAt = calledAt, waitMs = Infinity } = enter;
  const isInDoubt = faults.some(
    ({ target, from, until }) =>
      (target === process || !target.startsWith('app-')) && from <= returnedAt && until + noticeMs >= calledAt,
  );
  return isInDoubt || returnedAt - calledAt > waitMs + DOUBTFUL_AFTER_MS;
}

/**
 * The latest time at which a member was out. No member is inside for longer than its leave took. After a fault or a
 * kill, none is inside for longer than its session can have lasted.
 */
function outBy(
  { enter, leave, hold }: Omit<Member, 'outBy'>,
  faults: readonly Fault[],
  { callMs, calmMs }: Times,
): number {
  if (leave?.returnedAt !== undefined) {
    const { calledAt, returnedAt } = leave;
    const isBroken = faults.some(({ from, until }) => from <= returnedAt && until + calmMs >= calledAt);
    return leave.call.ask === 'leave' && isDone(leave) ? returnedAt : returnedAt + (isBroken ? calmMs : 0);
  }
  // The member was told that it is out.
  if (enter.returnedAt !== undefined && !isDone(enter) && !hold) return enter.returnedAt + calmMs;
  const lastSeen = Math.max(
    leave?.calledAt ?? -Infinity,
    hold?.seenUntil ?? -Infinity,
    enter.returnedAt ?? enter.calledAt,
  );
  return lastSeen + callMs + calmMs;
}

/**
 * Finds a member for which the barrier cannot have opened. It must have opened when there were enough, and the member
 * was one of them or came while one of them was inside.
 */
function openedAlone({ enter }: Member, members: readonly Member[]): Finding[] {
  const { count } = enter.call;
  const companions = members.filter((one) => one.enter.from <= enter.until && one.outBy >= enter.calledAt);
  const near = members.filter((one) => companions.some((other) => overlap(one, other)));
  const isPossible = near.some(({ enter: { calledAt: at, from } }) => {
    const isThere = (one: Member) => one.enter.calledAt <= at && one.outBy >= at;
    return from <= enter.until && near.filter(isThere).length >= count && companions.some(isThere);
  });
  if (isPossible) return [];
  const message = `"${enter.call.key}": ${enter.process} is in, and there were never ${count}`;
  return [{ check: 'barriers', message, records: [enter, ...members] }];
}

function overlap(one: Member, other: Member): boolean {
  return one.enter.calledAt <= other.outBy && other.enter.calledAt <= one.outBy;
}

/**
 * Finds members that were surely inside when this one began to leave, and still believe to be inside after it has left.
 * They have not begun to leave.
 */
function leftEarly(
  { leave, enter }: Member,
  members: readonly Member[],
  faults: SimulationHistory['faults'],
): Finding[] {
  if (!leave || leave.call.ask !== 'leave' || !isDone(leave)) return [];
  const left = leave.returnedAt ?? Infinity;
  const inside = members.filter(
    (other) =>
      other.enter.id !== enter.id &&
      isDone(other.enter) &&
      other.enter.until < leave.from &&
      (other.leave?.from ?? Infinity) > leave.until &&
      (other.hold?.seenUntil ?? -Infinity) > left &&
      !(other.hold && wasClosedOnPurpose(other.hold, faults)),
  );
  if (inside.length === 0) return [];
  const message = `"${leave.call.key}": ${leave.process} has left while others are in`;
  return [{ check: 'barriers', message, records: [leave, ...inside] }];
}
