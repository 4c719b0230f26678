/**
 * Semaphore: so many permits at a time.
 * Znodes: `<path>/leases/_c_<uuid>-lease-<number>`, ephemeral and sequential, one a permit;
 * `<path>/locks/_c_<uuid>-lock-<number>`, one for each who is at the gate; the number of permits, see `permit-count.ts`.
 * Who waits for whom: whoever wants permits goes through the gate, a mutex. Whoever has the gate makes its permits first,
 * then waits until there are no more of them than there may be: it watches the permits and their number, and those
 * behind it watch the gate. So a release wakes one, and one who wants many is not overtaken by those who want few. More
 * than there may be are never held, gate or not: everybody counts after its own are made.
 * Session loss: the servers remove the znodes. A holder's lease is lost before that; a waiter enters the line again.
 * Source: Curator's InterProcessSemaphoreV2, with which it shares the permits. Unlike Curator's, whoever wants several
 * keeps the gate until it has them all, so that no two of them wait for each other.
 */
import { anyAbort, orAbort } from '../../async/abort.js';
import { limited } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { PERMIT_MARK } from '../session/contender-name.js';
import { LiveValue } from '../session/live-value.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import type { Contender } from './contender.js';
import { CounterEndingError, isNearTheEnd } from './counter.js';
import { NodeDeletedError } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import type { PermitCount } from './permit-count.js';
import { PermitNodes } from './permit-nodes.js';
import { countPermits, GATE, permitNumber, PERMITS } from './permit-view.js';
import { enterLine, enterTogether } from './protected-create.js';
import { atTurn, turnInLine } from './wait-for-turn.js';
import type { Turn } from './wait-for-turn.js';
import { grantPermits } from './zookeeper-lease.js';

// How long one who gives up waits to see its znode gone.
const LEAVING_MS = 100;
// How long one who does not wait gives those before it to go through the gate, where there is room for all.
const PASSING_MS = 1_000;

/** A semaphore, and how many of its permits are wanted. */
export interface Wanted {
  readonly directory: LockDirectory;
  readonly count: PermitCount;
  readonly permits: number;
}

export async function acquirePermits(
  session: Session,
  wanted: Wanted,
  request: LockRequest,
): Promise<GrantedLease | null> {
  const room = { path: `${wanted.directory.path}/${PERMITS}`, count: wanted.count };
  if (!request.wait && !(await hasRoom(session, room, wanted.permits, request.signal))) return null;
  const gate = await passGate(session, wanted.directory, request);
  if (!gate) return null;
  const limits = anyAbort([request.signal, gate.gone]);
  try {
    const lease = await takePermits(session, wanted, gate.name, { ...request, signal: limits.signal });
    if (lease) void gate.leave(0);
    return lease;
  } finally {
    limits.dispose();
    // Whoever gives up has left before it says so.
    if (!gate.isLeaving) await gate.leave(LEAVING_MS);
  }
}

/** The place at the gate, once it is the first; `null` when it is not in time. */
async function passGate(session: Session, directory: LockDirectory, request: LockRequest): Promise<Contender | null> {
  const gate = { ...directory, path: `${directory.path}/${GATE}` };
  const { releaseTimeoutMs } = directory;
  const { label, wait } = request;
  const first = await limited(wait ? Infinity : PASSING_MS, request.signal, (signal) => {
    const entering = enterLine(session, gate, 'lock', { label, signal });
    const turn = turnInLine(session, true);
    return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, ({ contender }) => contender);
  });
  return first ?? null;
}

function takePermits(
  session: Session,
  wanted: Wanted,
  gate: string,
  request: LockRequest,
): Promise<GrantedLease | null> {
  const directory = { ...wanted.directory, path: `${wanted.directory.path}/${PERMITS}` };
  const { releaseTimeoutMs, path } = directory;
  const { signal, wait } = request;
  const entering = enterPermits(session, directory, wanted, gate, request);
  const turn = turnWithRoom(session, { path, count: wanted.count }, wait);
  const grant = ({ contender }: PermitEntry) => grantPermits(session, directory, contender, request);
  return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, grant);
}

/** Makes the permits, and asks how many there are and may be in the same round trip. */
async function enterPermits(
  session: Session,
  directory: LockDirectory,
  { permits, count }: Wanted,
  gate: string,
  request: LockRequest,
): Promise<PermitEntry> {
  const group = { mark: PERMIT_MARK, count: permits, id: gate };
  const entering = enterTogether(session, directory, group, request);
  const counting = count.read(session.requests).catch(() => undefined);
  const { contenders, names } = await entering;
  return { contender: new PermitNodes(contenders), names, most: await counting };
}

/** Where the permits of a semaphore are, and how many there may be. */
interface Room {
  readonly path: string;
  readonly count: PermitCount;
}

/** Permits whose znodes are made, and what there was then, as far as that was learned in the same round trip. */
interface PermitEntry {
  readonly contender: PermitNodes;
  readonly names: readonly string[] | undefined;
  /** How many permits there may be. */
  readonly most: number | undefined;
}

/** Whether so many permits more are free, as far as that is to be seen without taking them. */
async function hasRoom(session: Session, room: Room, permits: number, signal: AbortSignal): Promise<boolean> {
  const { requests } = session;
  const look = () => Promise.all([unlessMissing(requests.children(room.path), []), room.count.read(requests)]);
  const [names, most] = await session.persistently(look, signal);
  return countPermits(names) + permits <= most;
}

/** The turn of whoever has the gate: when there are no more permits than there may be, its own among them. */
function turnWithRoom(session: Session, room: Room, wait: boolean): Turn<PermitEntry> {
  return {
    isNow: ({ contender, names, most }) => {
      checkNumbers(contender);
      return names !== undefined && most !== undefined && fits(contender, names, most);
    },
    comes: async ({ contender }, signal) => {
      if (wait) return untilRoom(session, room, contender, signal);
      const { requests } = session;
      const look = () => Promise.all([unlessMissing(requests.children(room.path), []), room.count.read(requests)]);
      return fits(contender, ...(await session.persistently(look, signal)));
    },
  };
}

async function untilRoom(session: Session, { path, count }: Room, contender: PermitNodes, signal: AbortSignal) {
  const { requests } = session;
  const permits = new LiveValue(() => requests.watchChildren(path));
  const most = new LiveValue(() => count.watch(requests));
  const look = () => Promise.all([permits.read(), most.read()]);
  try {
    for (;;) {
      const [{ names, watch }, counted] = await session.persistently(look, signal).catch(lostWithout(contender));
      if (fits(contender, names, counted.permits)) return true;
      await orAbort(Promise.race([watch.fired, counted.watch.fired]), signal);
    }
  } finally {
    permits.dispose();
    most.dispose();
  }
}

/** @throws NodeDeletedError when own ones are not there */
function fits({ contenders }: PermitNodes, names: readonly string[], most: number): boolean {
  const present = new Set(names);
  const missing = contenders.find(({ name }) => !present.has(name));
  if (missing) throw new NodeDeletedError(missing.path);
  return countPermits(names) <= most;
}

function checkNumbers({ contenders }: PermitNodes): void {
  const last = contenders.find(({ name }) => isNearTheEnd(permitNumber(name)));
  if (last) throw new CounterEndingError(last);
}

function lostWithout({ contenders }: PermitNodes): (error: unknown) => never {
  return (error) => {
    throw isKeeperError(error, 'noNode') && contenders[0] ? new NodeDeletedError(contenders[0].path) : error;
  };
}
