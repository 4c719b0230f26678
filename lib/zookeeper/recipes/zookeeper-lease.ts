import { NEVER } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import type { Place } from '../../async/collections.js';
import { pause, settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf, GrantedLease } from '../../contract/granted-lease.js';
import type { Demand, Grant } from '../../contract/granted-lease.js';
import type { LeaseMode } from '../../contract/lease.js';
import { nameOf } from '../../contract/lock-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { ErrorCode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData, queueOf } from './contender-znode.js';
import type { Contender } from './contender.js';
import { becomeReader } from './downgrade.js';
import type { LeaseNodes, NodesListener } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNodesSoon, willWrite } from './own-node-watch.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

/**
 * The lease of the contender whose turn it is. It is valid while the session certainly is, and the znode was not
 * deleted externally. Its fencing token is the znode's creation zxid, which grows even when parents are deleted and
 * created again.
 */
export function grantLease(
  session: Session,
  directory: LockDirectory,
  contender: Contender,
  request: LockRequest,
): GrantedLease {
  return new ZooKeeperHold(session, directory, { nodes: contender, contenders: [contender], contender }, request).lease;
}

/** The lease on permits. All permits of one acquisition are created in one transaction, so they share its zxid. */
export function grantPermits(
  session: Session,
  directory: LockDirectory,
  nodes: LeaseNodes,
  contenders: readonly Contender[],
  request: LockRequest,
): GrantedLease {
  return new ZooKeeperHold(session, directory, { nodes, contenders }, request).lease;
}

/** The znodes of a hold. */
interface Held {
  readonly nodes: LeaseNodes;
  readonly contenders: readonly Contender[];
  /** The contender of a wait queue. `undefined` for permits: nobody waits behind one of them. */
  readonly contender?: Contender;
}

/** The grant behind a lease. A class: one is made for each acquisition, see docs/performance.md. */
class ZooKeeperHold implements Grant, NodesListener {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly lease: GrantedLease;
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #request: LockRequest;
  readonly #nodes: LeaseNodes;
  readonly #contender: Contender | undefined;
  readonly #carried: Place<unknown>;
  readonly #young: Place<unknown>;
  #marker: IdleMarker | undefined;

  constructor(
    session: Session,
    directory: LockDirectory,
    { nodes, contenders, contender }: Held,
    request: LockRequest,
  ) {
    this.key = nameOf(request);
    this.fencingToken = fencingTokenOf(nodes.czxid);
    this.#session = session;
    this.#directory = directory;
    this.#request = request;
    this.#nodes = nodes;
    this.#contender = contender;
    this.lease = new GrantedLease(this as Grant);
    this.#carried = session.carry(this.lease);
    this.#young = watchOwnNodesSoon(session, contenders);
    nodes.listen(this);
  }

  get mode(): LeaseMode {
    return this.#contender?.isExchanged ? 'read' : this.#request.mode;
  }

  get demand(): Demand | undefined {
    return this.#contender && new ContentionWatch(this.#session, this.#contender);
  }

  isCurrent(): boolean {
    return this.#session.isCurrent && !this.#nodes.isGone;
  }

  giveBack(): Promise<void> {
    this.#carried.leave();
    this.#young.leave();
    return this.#nodes.leave(this.#directory.releaseTimeoutMs);
  }

  gone(): void {
    this.lease.lose(new LockLostError(this.key, 'its znode was deleted by somebody else'));
  }

  revoked(): void {
    this.lease.revoke();
  }

  noteKept(isKept: boolean): void {
    if (!this.#contender) return;
    this.#marker ??= new IdleMarker(this.#session, this.#contender, this.#request.label);
    this.#marker.write(isKept);
  }

  /** A request that is not answered in time continues in the background. Permits stay as they are. */
  async downgrade(): Promise<void> {
    if (!this.#contender) return;
    const downgraded = becomeReader(this.#session, this.#directory, this.#contender, this.#request.label);
    await settledWithin(downgraded, this.#directory.releaseTimeoutMs);
  }
}

const LOOK_AGAIN_MS = 10;

/** Watches for contenders behind a holder that have to wait for it. */
class ContentionWatch implements Demand {
  readonly #session: Session;
  readonly #contender: Contender;

  constructor(session: Session, contender: Contender) {
    this.#session = session;
    this.#contender = contender;
  }

  watch(onDemand: () => void, onNone: () => void): Dispose {
    let isOver = false;
    const demanded = () => isOver || onDemand();
    this.#untilThere(() => isOver, onNone).then(demanded, demanded);
    return () => {
      isOver = true;
    };
  }

  // A watch that is set at the time of disposal is not removed: the contender's own deletion, still to come, fires it.
  async #untilThere(isOver: () => boolean, onNone: () => void): Promise<void> {
    const { directory, parsed } = this.#contender;
    for (let isFirst = true; !isOver(); isFirst = false) {
      const { names, watch } = await this.#session.requests.watchChildren(directory);
      if (isOver()) return watch.remove();
      if (parsed && names.length > 1 && new WaitQueueSnapshot(names, queueOf(parsed.kind)).isAwaited(parsed)) return;
      if (isFirst) onNone();
      await watch.fired;
      // No contender was behind, so a new one has to wait. Another listing would only make it wait longer.
      if (parsed?.kind !== 'read') return;
      // Readers are created and deleted often. Not each of them is to make all others list the children.
      await pause(LOOK_AGAIN_MS, NEVER);
    }
  }
}

/**
 * Records in a contender's znode whether its lease is warm. It is for others to see; a write that fails is left undone.
 */
export class IdleMarker {
  readonly #session: Session;
  readonly #path: string;
  readonly #label: string | undefined;
  #version = 0;
  #isKept = false;
  #isNoted = false;
  #isWriting = false;
  #isOver = false;

  constructor(session: Session, contender: Contender, label: string | undefined) {
    this.#session = session;
    this.#path = contender.path;
    this.#label = label;
    willWrite(contender);
  }

  write(isKept: boolean): void {
    this.#isKept = isKept;
    if (!this.#isWriting) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    this.#isWriting = true;
    while (this.#isKept !== this.#isNoted && !this.#isOver) {
      const isKept = this.#isKept;
      // Data of another client, such as a revocation, is never overwritten. So one refusal ends all further writes.
      this.#isOver = !(await this.#note(isKept));
      this.#isNoted = isKept;
    }
    this.#isWriting = false;
  }

  async #note(isKept: boolean): Promise<boolean> {
    const data = contenderData(this.#label, undefined, isKept || undefined);
    const op = { type: 'setData', path: this.#path, data, version: this.#version++ } as const;
    const { results } = await this.#session.requests.multi([op]).catch(() => ({ results: [] }));
    return results[0]?.error === ErrorCode.ok;
  }
}
