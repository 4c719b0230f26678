import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Fault } from '../../robustness/model/history.js';
import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Call } from '../model/call.js';
import { asking, callsOn, isDone, isOpen } from '../model/history.js';
import type { CallAsking, MadeCall, SimulationHistory } from '../model/history.js';

type QueueCall = MadeCall<Extract<Call, { on: 'queue' }>>;
type Asking<A> = MadeCall<CallAsking<QueueCall['call'], A>>;

interface Delivery {
  readonly take: Asking<'take'>;
  readonly id: string;
  readonly token: bigint;
}

/** The history of one value. Values are put once each. */
interface Item {
  readonly value: string;
  readonly put: Asking<'put'> | undefined;
  readonly deliveries: readonly Delivery[];
  readonly acks: readonly Asking<'ack'>[];
}

/**
 * An item is delivered at least once, with the same id each time, and in the order of the puts. An acknowledged item is
 * not delivered any more. As documented, a put whose reply was lost may be repeated after the acknowledgement.
 * @param claimMs how long after its call a take without a reply may keep an item from others
 */
export function checkQueues(
  history: Pick<SimulationHistory, 'calls'> & Partial<Pick<SimulationHistory, 'faults'>>,
  claimMs: number,
): Finding[] {
  const { faults = [] } = history;
  return byKey(callsOn(history, 'queue').map((one) => ({ ...one, key: one.call.key }))).flatMap((calls) => {
    const takes = asking(calls, 'take');
    const items = itemsOf(calls, takes);
    const emptiedBy = emptyAt(calls);
    return [...items.flatMap((item) => checkItem(item, emptiedBy, faults)), ...overtaken(items, takes, claimMs)];
  });
}

function itemsOf(calls: readonly QueueCall[], takes: readonly Asking<'take'>[]): Item[] {
  const puts = new Map(asking(calls, 'put').flatMap((put) => put.call.values.map((value) => [value, put] as const)));
  const deliveries = new Map<string, Delivery[]>();
  for (const take of takes) {
    for (const { id, value, token } of take.answer?.items ?? []) {
      deliveries.set(value, [...(deliveries.get(value) ?? []), { take, id, token: BigInt(token) }]);
    }
  }
  const acks = new Map(
    byKey(asking(calls, 'ack').map((one) => ({ ...one, key: one.call.value }))).map((group) => [group[0]!.key, group]),
  );
  return [...new Set([...puts.keys(), ...deliveries.keys()])].map((value) => ({
    value,
    put: puts.get(value),
    deliveries: deliveries.get(value) ?? [],
    acks: acks.get(value) ?? [],
  }));
}

/** The time from which the queue was seen to be empty with no put to follow. `undefined` if it never was. */
function emptyAt(calls: readonly QueueCall[]): number | undefined {
  const lastPut = Math.max(...asking(calls, 'put').map(({ from, until }) => (until === Infinity ? from : until)));
  return asking(calls, 'size').find((one) => isDone(one) && one.answer?.value === 0 && one.from > lastPut)?.from;
}

function checkItem(item: Item, emptiedBy: number | undefined, faults: readonly Fault[]): Finding[] {
  const why = wrongItem(item, emptiedBy, faults);
  const { value, put, deliveries, acks } = item;
  return why === undefined ? [] : [finding(`"${value}" ${why}`, [put, ...deliveries, ...acks])];
}

function wrongItem(
  { put, deliveries, acks }: Item,
  emptiedBy: number | undefined,
  faults: readonly Fault[],
): string | undefined {
  if (put === undefined || deliveries.some(({ take }) => take.until < put.from)) return 'was delivered and never put';
  if (!isDone(put) && !isOpen(put) && deliveries.length > 0)
    return `was delivered, and its put was a ${put.answer?.outcome}`;
  if (new Set(deliveries.map(({ id }) => id)).size > 1) return 'was delivered with several ids';
  const ackedBy = Math.min(...acks.filter(isDone).map(({ until }) => until));
  const isPutAgain = put.until > Math.min(...acks.map(({ from }) => from));
  if (!isPutAgain && deliveries.some(({ take }) => take.from > ackedBy))
    return 'was delivered after it was acknowledged';
  const last = acks
    .filter((ack) => isDone(ack) && !wasClaimDeleted(ack, deliveries, faults))
    .map(({ call }) => BigInt(call.token));
  if (!isPutAgain && deliveries.some(({ token }) => last.some((one) => token > one)))
    return 'was taken by another one before it was acknowledged';
  if (emptiedBy === undefined || !isDone(put)) return undefined;
  if (deliveries.length === 0) return 'was put and never delivered';
  return acks.some((one) => isDone(one) || isOpen(one)) ? undefined : 'is gone, and nobody has acknowledged it';
}

/**
 * Compares the order of first deliveries with the order of the puts. A take that gives up puts its items back before it
 * returns. Until then, and for longer if its outcome is unknown, others pass over these items.
 */
function overtaken(items: readonly Item[], takes: readonly Asking<'take'>[], claimMs: number): Finding[] {
  const silent = takes.filter((take) => !isDone(take) && isOpen(take));
  const empty = takes.filter((take) => !silent.includes(take) && (take.answer?.items ?? []).length === 0);
  const first = items.flatMap(({ value, put, deliveries }) => {
    const times = deliveries.map(({ take }) => take);
    if (put === undefined || times.length === 0) return [];
    const returnedAt = Math.min(...times.map((take) => take.returnedAt ?? Infinity));
    return [
      {
        value,
        put,
        from: Math.min(...times.map(({ from }) => from)),
        until: Math.min(...times.map(({ until }) => until)),
        returnedAt,
      },
    ];
  });
  return first.flatMap((later) => {
    const passed = first.find(
      (sooner) =>
        isDone(sooner.put) &&
        sooner.put.until < later.put.from &&
        later.until < sooner.from &&
        !empty.some((take) => take.from < later.until && later.from < take.until) &&
        !silent.some(
          (take) => take.from < later.until && (take.returnedAt ?? take.calledAt) + claimMs > sooner.put.calledAt,
        ),
    );
    return passed
      ? [finding(`"${later.value}" was delivered before "${passed.value}", which was put before it`, [passed, later])]
      : [];
  });
}

/**
 * Whether a fault deleted the taker's claim between its take and its ack. The taker does not know that. Its ack finds
 * the item gone, as it is to be.
 */
function wasClaimDeleted(ack: Asking<'ack'>, deliveries: readonly Delivery[], faults: readonly Fault[]): boolean {
  const { process, returnedAt = Infinity } = ack;
  const { take } = deliveries.find(({ token }) => token === BigInt(ack.call.token)) ?? {};
  return faults.some(
    ({ name, target, from }) =>
      name === SESSION_CLOSED && target === process && from >= (take?.calledAt ?? 0) && from <= returnedAt,
  );
}

function finding(message: string, records: readonly unknown[]): Finding {
  return { check: 'queue', message, records };
}
