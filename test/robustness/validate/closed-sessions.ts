import type { Fault, History, Hold } from '../model/history.js';

/** The fault that closes a session from elsewhere, with its id and password. */
export const SESSION_CLOSED = 'session closed';

/**
 * Whether the hold's session was closed on purpose while the holder believed in it. The znode is then deleted at once,
 * without an expired lease. The holder is notified with its next reply, and cannot know earlier.
 */
export function wasClosedOnPurpose(hold: Hold, faults: readonly Fault[], since = hold.from): boolean {
  return faults.some(
    ({ name, target, from, until }) =>
      name === SESSION_CLOSED && target === hold.process && since <= until && hold.seenUntil >= from,
  );
}

/** The fault of etcd before 3.4.31 and 3.5.13, for a moment after a frozen leader has woken. */
export const LEASES_ENDED = 'leases ended by a leader that woke';

/** A part of the log line about a server with that fault. */
const HAS_THAT_FAULT = 'may end leases that live after a change of the leader';

// A leader that wakes hears of its successor within some heartbeats of a tenth of a second.
const WAKING_MS = 1_000;

/**
 * The faults of a run, and those that the servers have by themselves. A leader of an old etcd that was frozen ends, when
 * it wakes, leases that are alive at its successor (etcd-io/etcd#15247). Their holders are told at once, and cannot know
 * earlier.
 */
export function withFaultsOfServers<H extends Pick<History, 'backend' | 'faults' | 'ends'>>(history: H): H {
  const { backend, ends, faults } = history;
  if (backend !== 'etcd' || !ends.some(({ output }) => output.includes(HAS_THAT_FAULT))) return history;
  const woken = faults
    .filter(({ name }) => name === 'leader frozen')
    .map(({ until }) => ({ name: LEASES_ENDED, target: 'all', from: until, until: until + WAKING_MS }));
  return { ...history, faults: [...faults, ...woken] };
}

/** Whether the servers ended the hold's session although its lease was not over. */
export function wasEndedEarly(hold: Hold, faults: readonly Fault[], since = hold.from): boolean {
  return wasClosedOnPurpose(hold, faults, since) || wasEndedByWokenLeader(hold, faults);
}

function wasEndedByWokenLeader({ end, endedAt }: Hold, faults: readonly Fault[]): boolean {
  if (end !== 'lost' || endedAt === undefined) return false;
  return faults.some(({ name, from, until }) => name === LEASES_ENDED && endedAt >= from && endedAt <= until);
}

const HAND_OVER_BITS = 16n;

/**
 * When the holder's process was granted the key. Until it hears of the end of its session, it hands the lease over to its
 * own callers, whose tokens differ in the last bits.
 */
export function grantedSince(hold: Hold, holds: readonly Hold[]): number {
  const contender = hold.token >> HAND_OVER_BITS;
  const handedOver = holds.filter(
    ({ key, process, token }) => key === hold.key && process === hold.process && token >> HAND_OVER_BITS === contender,
  );
  return Math.min(hold.from, ...handedOver.map(({ from }) => from));
}
