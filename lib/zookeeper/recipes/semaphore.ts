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
import { anyAbort } from '../../async/abort.js';
import { limited } from '../../async/limited.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { PERMIT_MARK } from '../session/contender-name.js';
import type { Session } from '../session/session.js';
import { atTurn } from './acquire.js';
import type { Contender } from './contender.js';
import type { LockDirectory } from './lock-directory.js';
import type { PermitCount } from './permit-count.js';
import { GATE, PERMITS } from './permit-name.js';
import { PermitNodes } from './permit-nodes.js';
import { enterLine, enterTogether } from './protected-create.js';
import { hasRoom, turnWithRoom } from './room.js';
import type { PermitEntry } from './room.js';
import { turnInLine } from './turn-in-line.js';
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
