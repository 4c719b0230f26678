/**
 * Semaphore: a limited number of permits at a time.
 * Znodes:
 * - `<path>/leases/_c_<uuid>-lease-<number>`, ephemeral and sequential, one per permit;
 * - `<path>/locks/_c_<uuid>-lock-<number>`, one per contender at the gate;
 * - the limit, which is the number of permits, see `permit-count.ts`.
 * Waiting: a caller that wants permits passes the gate, a mutex. The contender that holds the gate creates its permits
 * first. Then it waits until the permits do not exceed the limit. It watches the permits and the limit; the contenders
 * behind it watch the gate. So a release wakes one contender, and a request for many permits is not overtaken by
 * requests for few.
 * More permits than the limit are never held, with or without the gate: every acquisition counts after its own are
 * created.
 * Session loss: the servers remove the znodes. A holder's lease is lost before that. A waiter queues again.
 * Source: Curator's InterProcessSemaphoreV2, with which it shares the permits. Unlike in Curator's, a caller that wants
 * several permits keeps the gate until it has them all. So no two such callers wait for each other.
 */
import { OwnAbortController, withAnyAbort } from '../../async/abort.js';
import { pause } from '../../async/timer.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { PERMIT_MARK, isNearTheEnd } from './contender-znode.js';
import { isKeeperError } from '../session/requests.js';
import type { Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import type { Contender } from './contender.js';
import { CounterEndingError } from './counter.js';
import { NodeDeletedError } from './held-nodes.js';
import type { LeaseNodes, NodesListener } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import type { PermitCount, WatchedCount } from './permit-count.js';
import { countPermits, GATE, permitNumber, PERMITS } from './permit-view.js';
import { enterQueue, enterTogether } from './protected-create.js';
import { atTurn, LEAVING_MS, QueueTurn } from './wait-for-turn.js';
import type { Turn, WaitLimit } from './wait-for-turn.js';
import { grantPermits } from './zookeeper-lease.js';

// The time for those before it to pass the gate, when a request does not wait and there is room for all: about a second.
const PASSING_STEPS = 10;
const PASSING_STEP_MS = 100;
const NOT_PASSED = Symbol('those before it have not passed the gate');

/** A semaphore, and the number of permits that are wanted. */
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
  try {
    const lease = await withAnyAbort([request.signal, gate.gone], (signal) =>
      takePermits(session, wanted, gate.name, { ...request, signal }),
    );
    if (lease) void gate.leave(0);
    return lease;
  } finally {
    // An acquisition that is given up leaves the queue before the caller is notified.
    if (!gate.isLeaving) await gate.leave(LEAVING_MS);
  }
}

/** The contender at the gate, once it is first. `null` when it is not first in time. */
async function passGate(session: Session, directory: LockDirectory, request: LockRequest): Promise<Contender | null> {
  const gate = { ...directory, path: `${directory.path}/${GATE}` };
  const { releaseTimeoutMs } = directory;
  const pass = (signal: AbortSignal) => {
    const entering = enterQueue(session, gate, 'lock', { label: request.label, signal });
    const turn = new QueueTurn(session, true);
    return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, ({ contender }) => contender);
  };
  return request.wait ? pass(request.signal) : whilePassing(session, gate.path, request.signal, pass);
}

/**
 * Returns the result of `pass`, or `null` when the contenders before it do not pass. Their time is counted in steps, each
 * with an answer of the servers: contenders cannot pass while the servers do not answer.
 */
async function whilePassing<T>(
  session: Session,
  path: string,
  signal: AbortSignal,
  pass: (signal: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  const isOver = new OwnAbortController();
  const limit = new OwnAbortController();
  const count = async () => {
    for (let step = 0; step < PASSING_STEPS; step++) {
      await pause(PASSING_STEP_MS, isOver.signal);
      await session.surely(() => session.requests.sync(path));
    }
    limit.abort(NOT_PASSED);
  };
  count().catch(() => {});
  try {
    return await withAnyAbort([signal, limit.signal], pass);
  } catch (error) {
    if (error === NOT_PASSED) return null;
    throw error;
  } finally {
    isOver.abort();
  }
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
  const turn = new TurnWithRoom(session, { path, count: wanted.count }, wait);
  const grant = ({ contender }: PermitEntry) =>
    grantPermits(session, directory, contender, contender.contenders, request);
  return atTurn(session, { entering, turn, releaseTimeoutMs, signal }, grant);
}

/** Creates the permits, and reads the number of permits and the limit in the same round trip. */
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

/** The directory of a semaphore's permits, and their limit. */
interface Room {
  readonly path: string;
  readonly count: PermitCount;
}

/** Created permits. Also the permits and the limit at that time, as far as the same round trip showed them. */
interface PermitEntry {
  readonly contender: PermitNodes;
  readonly names: readonly string[] | undefined;
  /** The limit: the number of permits that may be held at a time. */
  readonly most: number | undefined;
}

/** Whether this many more permits are free, as far as can be seen without taking them. */
async function hasRoom(session: Session, room: Room, permits: number, signal: AbortSignal): Promise<boolean> {
  // A server that is behind shows permits that were released before the call.
  const look = () => Promise.all([session.requests.sync(room.path), lookAt(session, room)]);
  const [, [names, most]] = await session.persistently(look, signal);
  return countPermits(names) + permits <= most;
}

/**
 * The turn of the contender that holds the gate. It comes when the permits, its own included, do not exceed the limit.
 */
class TurnWithRoom implements Turn<PermitEntry> {
  readonly #session: Session;
  readonly #room: Room;
  readonly #wait: boolean;
  readonly #permits: LiveValue<{ readonly names: readonly string[]; readonly watch: Watch }>;
  readonly #most: LiveValue<WatchedCount>;
  /** The last look at the permits and the limit. */
  #seen: Pick<PermitEntry, 'names' | 'most'> | undefined;

  constructor(session: Session, room: Room, wait: boolean) {
    const { requests } = session;
    const { path, count } = room;
    this.#session = session;
    this.#room = room;
    this.#wait = wait;
    this.#permits = new LiveValue(() => requests.watchChildren(path));
    this.#most = new LiveValue(() => count.watch(requests));
  }

  isNow(entry: PermitEntry): boolean {
    checkNumbers(entry.contender);
    const { names, most } = this.#seen ?? entry;
    return names !== undefined && most !== undefined && fits(entry.contender, names, most);
  }

  change({ contender }: PermitEntry, limit: WaitLimit): Promise<void> | undefined {
    if (this.#wait) return this.#event(contender, limit);
    return this.#seen ? undefined : this.#look(limit.signal);
  }

  end(): void {
    this.#permits.dispose();
    this.#most.dispose();
  }

  async #look(signal: AbortSignal): Promise<void> {
    const [names, most] = await this.#session.persistently(() => lookAt(this.#session, this.#room), signal);
    this.#seen = { names, most };
  }

  /** Looks with watches. Unless there is room then, waits until one of them fires. */
  async #event(contender: PermitNodes, limit: WaitLimit): Promise<void> {
    const look = () => Promise.all([this.#permits.read(), this.#most.read()]);
    const [{ names, watch }, counted] = await this.#session
      .persistently(look, limit.signal)
      .catch(lostWithout(contender));
    this.#seen = { names, most: counted.permits };
    if (fits(contender, names, counted.permits)) return;
    await limit.race(Promise.race([watch.fired, counted.watch.fired]));
  }
}

/** The permits and the limit. */
function lookAt({ requests }: Session, { path, count }: Room): Promise<[readonly string[], number]> {
  return Promise.all([unlessMissing(requests.children(path), []), count.read(requests)]);
}

/** Whether the permits do not exceed the limit. @throws NodeDeletedError when one of the contender's own is missing */
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

/** A value that is read together with a watch. It is read again only after the watch has fired. */
class LiveValue<T extends { readonly watch: Watch }> {
  readonly #ask: () => Promise<T>;
  #current: T | undefined;
  #isOver = false;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** @throws what the read throws; then no watch is left */
  async read(): Promise<T> {
    if (this.#current) return this.#current;
    const current = await this.#ask();
    // The value may have been disposed during the read.
    if (this.#isOver) current.watch.remove();
    else this.#current = current;
    void current.watch.fired.then(() => {
      if (this.#current === current) this.#current = undefined;
    });
    return current;
  }

  /** Removes the watch, now or as soon as it is set. */
  dispose(): void {
    this.#isOver = true;
    this.#current?.watch.remove();
    this.#current = undefined;
  }
}

/** The znodes of one acquisition's permits. When one of them is lost, all are lost. */
class PermitNodes implements LeaseNodes {
  readonly contenders: readonly Contender[];
  readonly czxid: bigint;

  /** @param contenders one per permit, at least one */
  constructor(contenders: readonly Contender[]) {
    this.contenders = contenders;
    this.czxid = contenders[0]?.czxid ?? 0n;
  }

  get isGone(): boolean {
    return this.contenders.some(({ isGone }) => isGone);
  }

  listen(listener: NodesListener | undefined): void {
    this.contenders.forEach((contender) => contender.listen(listener));
  }

  async leave(ms: number): Promise<void> {
    await Promise.all(this.contenders.map((contender) => contender.leave(ms)));
  }
}
