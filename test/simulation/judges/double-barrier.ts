import type { Fault, Hold } from '../../robustness/model/history.js';
import { byKey } from '../../robustness/validate/by-key.js';
import { wasClosedOnPurpose } from '../../robustness/validate/closed-sessions.js';
import type { Finding } from '../../robustness/validate/finding.js';
import { asking, callsOn, isDone, isOpen } from '../model/history.js';
import type { CallAsking, MadeCall, SimulationHistory } from '../model/history.js';
import type { Call } from '../model/call.js';

type BarrierCall = MadeCall<Extract<Call, { on: 'double barrier' }>>;
type Enter = MadeCall<CallAsking<BarrierCall['call'], 'enter'>>;
type Leave = MadeCall<CallAsking<BarrierCall['call'], 'leave'>>;

/** One who entered, or may have been counted. */
interface Member {
  readonly enter: Enter;
  readonly leave: Leave | undefined;
  readonly hold: Hold | undefined;
  /** When it was out at the latest. */
  readonly outBy: number;
}

/** How long things take. */
interface Times {
  /** A call of the traffic, at most. */
  readonly callMs: number;
  /** After a fault, or a death, until nothing of it is left. */
  readonly calmMs: number;
  /** After a fault, until a process knows what has become of its session. */
  readonly noticeMs?: number | undefined;
}

/**
 * A double barrier opens only with all: whoever is in came while there were enough who may have been counted, or while one of
 * those was still in. Whoever gave up is not counted. Whoever has left in order has outlasted all who were in with it.
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

/** In less time than this a session does not come to be in doubt. */
const DOUBTFUL_AFTER_MS = 300;

/**
 * A member that gives up, and is told so, was not counted, unless its session was in doubt or over by then. It was in doubt
 * where giving up took long, and where its process or the servers had a fault while it waited, or shortly before.
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

/** Nobody is in for longer than its leave took; where something was broken or killed, than its session can have lasted. */
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
  // It was told that it is out.
  if (enter.returnedAt !== undefined && !isDone(enter) && !hold) return enter.returnedAt + calmMs;
  const lastSeen = Math.max(
    leave?.calledAt ?? -Infinity,
    hold?.seenUntil ?? -Infinity,
    enter.returnedAt ?? enter.calledAt,
  );
  return lastSeen + callMs + calmMs;
}

/** It opened at some moment when there were enough, and it was one of them, or came while one of them was in. */
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

/** Somebody who was surely in when it began to leave believes to be in after it has left, and has not begun to leave. */
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
