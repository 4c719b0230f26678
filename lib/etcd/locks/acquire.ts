import { LockConfigurationError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { grantAll } from '../../contract/granted-set.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { MAY_BE_KEPT, tryKept } from '../../sessions/kept-key.js';
import { rangeBelow } from '../session/etcd-keys.js';
import { isRefusal } from '../session/etcd-session.js';
import type { DoubtedCall, EtcdSession } from '../session/etcd-session.js';
import { MOST_OPERATIONS } from '../session/outbox.js';
import type { Change, Changed } from '../session/outbox.js';
import type { Compare } from '../wire/requests.js';
import { Contender, EntryGoneError } from './contender.js';
import { entryText, turnsOf } from './entry.js';
import type { EtcdHold } from './etcd-hold.js';
import { readsOf, stateOf } from './queue-view.js';
import type { QueueState } from './queue-view.js';
import type { Wanted } from './wanted.js';

/** One operation is left for the transaction around the set. */
const MOST_KEYS = MOST_OPERATIONS - 1;
/** With so many operations, the queues are not read in the transaction that enters them. */
const MOST_WITH_READS = 60;

/**
 * Acquires a place in one wait queue, or in several in one step. Resolves with contenders that are granted or wait;
 * with `null` or `MAY_BE_KEPT` when the request must not wait and another contender is ahead.
 * @throws SessionEndedError, RefusedError, `signal.reason`
 */
async function enterQueues(
  session: EtcdSession,
  wanted: readonly Wanted[],
  waits: boolean,
  signal: AbortSignal,
): Promise<readonly Contender[] | typeof MAY_BE_KEPT | null> {
  const contenders = wanted.map((one) => new Contender(session, one));
  const enter = waits ? enterAnyway : enterIfFree;
  const call: DoubtedCall = { signal, doubt: { isSo: false } };
  const giveNamesBack = () => contenders.forEach(({ entryKey }) => session.giveNameBack(entryKey));
  const leave = () => Promise.all(contenders.map((contender) => contender.leave(call.sent)));
  try {
    const found = await enter(session, contenders, call);
    if (found !== 'in') {
      giveNamesBack();
      return found;
    }
  } catch (error) {
    if (isRefusal(error, call.doubt)) giveNamesBack();
    // The request may have been carried out, or may still be.
    else await leave();
    throw error;
  }
  if (contenders.every(({ granted }) => granted?.isCurrent() ?? waits)) return contenders;
  await leave();
  // The number of permits was lowered before the lost answer was found out.
  if (!waits && !session.isOver && contenders.some(({ granted }) => !granted)) return null;
  throw new EntryGoneError();
}

/** Enters the queues behind all that are there. An entry that is there already was made by a lost answer's request. */
async function enterAnyway(session: EtcdSession, contenders: readonly Contender[], call: DoubtedCall): Promise<'in'> {
  const first = contenders[0]?.entryKey ?? '';
  const change = entering(session, contenders, [{ key: first, property: 'created', is: 'equal', than: 0 }]);
  const reads = contenders.flatMap(({ queue }) => readsOf(queue));
  if (reads.length + contenders.length > MOST_WITH_READS) return enterUnread(session, contenders, call, change);
  const success = [...change.success, ...reads];
  const { isMet, results, revision } = await session.change({ ...change, success }, call);
  const states = isMet
    ? statesOf(contenders, results.slice(contenders.length), revision)
    : await look(session, contenders, call.signal);
  stand(contenders, states);
  return 'in';
}

/** Enters many queues, which are read by their views. */
async function enterUnread(
  session: EtcdSession,
  contenders: readonly Contender[],
  call: DoubtedCall,
  change: Change,
): Promise<'in'> {
  const failure = [{ kind: 'read', key: contenders[0]?.entryKey ?? '' } as const];
  const { isMet, results, revision } = await session.change({ ...change, failure }, call);
  const [found] = results;
  const created = isMet ? revision : found?.kind === 'read' ? found.found[0]?.created : undefined;
  if (created === undefined) throw new EntryGoneError();
  for (const contender of contenders) contender.stands(created, undefined);
  return 'in';
}

/** Enters the queues if that grants all at once. Otherwise leaves no trace. */
async function enterIfFree(
  session: EtcdSession,
  contenders: readonly Contender[],
  call: DoubtedCall,
): Promise<'in' | typeof MAY_BE_KEPT | null> {
  let unchanged: readonly Compare[] = contenders.map(({ queue }) => ({
    ...rangeBelow(queue.entries),
    property: 'created',
    is: 'equal',
    than: 0,
  }));
  // The number of permits matters even where nobody holds one.
  const hasNumbers = contenders.some(({ queue }) => queue.number !== undefined);
  if (hasNumbers) {
    const states = await look(session, contenders, call.signal);
    if (!isFree(contenders, states)) return null;
    unchanged = notChangedSince(contenders, states);
  }
  for (;;) {
    const { isMet, revision } = await session.change(entering(session, contenders, unchanged), call);
    const states = isMet ? undefined : await look(session, contenders, call.signal);
    if (!states) {
      contenders.forEach((contender) => contender.takes(revision));
      return 'in';
    }
    if (contenders.some(({ entryKey }, place) => states[place]?.entries.some(({ key }) => key === entryKey))) {
      // A request whose answer was lost has been carried out.
      stand(contenders, states);
      return 'in';
    }
    if (!isFree(contenders, states)) return mayBeIdle(states) ? MAY_BE_KEPT : null;
    unchanged = notChangedSince(contenders, states);
  }
}

function entering(session: EtcdSession, contenders: readonly Contender[], compare: readonly Compare[]): Change {
  const success = contenders.map(
    ({ entryKey, value }) => ({ kind: 'put', key: entryKey, value: entryText(value), lease: session.lease }) as const,
  );
  const about = contenders.flatMap(({ queue }) => [
    queue.entries,
    ...(queue.number === undefined ? [] : [queue.number]),
  ]);
  return { about, compare, success, failure: [] };
}

async function look(
  session: EtcdSession,
  contenders: readonly Contender[],
  signal: AbortSignal,
): Promise<readonly QueueState[]> {
  const reads = contenders.flatMap(({ queue }) => readsOf(queue));
  const { results, revision } = await session.read(reads, signal);
  return statesOf(contenders, results, revision);
}

function statesOf(
  contenders: readonly Contender[],
  results: Changed['results'],
  revision: number,
): readonly QueueState[] {
  const reads = results.flatMap((result) => (result.kind === 'read' ? result : []));
  let at = 0;
  return contenders.map((contender) => {
    const { queue } = contender;
    const count = queue.number === undefined ? 1 : 2;
    at += count;
    return stateOf(queue, reads.slice(at - count, at), revision, contender);
  });
}

/** Whether each contender would be granted as the last one of its queue. */
function isFree(contenders: readonly Contender[], states: readonly QueueState[]): boolean {
  return contenders.every(({ value }, place) => {
    const { entries = [], number } = states[place] ?? {};
    return turnsOf([...entries, value], number) > entries.length;
  });
}

/** Whether there is only one contender, and that one may keep its key without using it. */
function mayBeIdle([state, ...others]: readonly QueueState[]): boolean {
  const [entry, second] = state?.entries ?? [];
  return others.length === 0 && second === undefined && entry?.keeps === true;
}

function notChangedSince(contenders: readonly Contender[], states: readonly QueueState[]): readonly Compare[] {
  return contenders.flatMap(({ queue }, place) => {
    const than = (states[place]?.revision ?? 0) + 1;
    const entries = { ...rangeBelow(queue.entries), property: 'modified', is: 'less', than } as const;
    const { number } = queue;
    return number === undefined ? [entries] : [entries, { key: number, property: 'modified', is: 'less', than }];
  });
}

function stand(contenders: readonly Contender[], states: readonly QueueState[]): void {
  contenders.forEach((contender, place) => {
    const state = states[place];
    const entry = state?.entries.find(({ key }) => key === contender.entryKey);
    if (!entry) throw new EntryGoneError();
    contender.stands(entry.created, state);
  });
}

/** Acquires one key. @throws SessionEndedError, RefusedError, `signal.reason` */
export function acquireOne(session: EtcdSession, wanted: Wanted, request: LockRequest): Promise<EtcdHold | null> {
  return tryKept(request, request.signal, async (waits, limit) => {
    const entered = await enterQueues(session, [wanted], waits, limit);
    if (entered === MAY_BE_KEPT) return MAY_BE_KEPT;
    const [contender] = entered ?? [];
    return contender ? (contender.granted ?? contender.untilGranted(limit)) : null;
  });
}

/** Acquires several keys in one step: all or none. @throws SessionEndedError, RefusedError, `signal.reason` */
export async function acquireSet(
  session: EtcdSession,
  wanted: readonly Wanted[],
  requests: readonly LockRequest[],
): Promise<readonly GrantedLease[] | null> {
  const [first] = requests;
  if (!first) return [];
  if (wanted.length > MOST_KEYS) {
    throw new LockConfigurationError(`etcd() grants sets of at most ${MOST_KEYS} keys, this one has ${wanted.length}`);
  }
  const contenders = await enterQueues(session, wanted, first.wait && first.line === 'fifo', first.signal);
  if (!contenders || contenders === MAY_BE_KEPT) return null;
  const leaseOf = async (request: LockRequest, place: number) =>
    (await contenders[place]?.untilGranted(request.signal))?.lease ?? null;
  return grantAll(requests, leaseOf, () => new EntryGoneError());
}
