import { NEVER } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { pause, settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/fencing-token.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { Demand, Grant } from '../../contract/granted-lease.js';
import { nameOf } from '../../contract/lock-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { ErrorCode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData } from './contender-data.js';
import { lineKindOf, standingOf } from './contender-name.js';
import type { Contender } from './contender.js';
import { becomeReader } from './downgrade.js';
import type { LeaseNodes } from './held-nodes.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNodeSoon } from './own-node-watch.js';
import type { PermitNodes } from './permit-nodes.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

/**
 * The lease of the contender whose turn it is. It stands while the session surely does and the znode was not deleted
 * from outside; its token is the znode's creation zxid, which grows across parents deleted and made again.
 */
export function grantLease(
  session: Session,
  directory: LockDirectory,
  contender: Contender,
  request: LockRequest,
): GrantedLease {
  const ground = { key: nameOf(request), nodes: contender, contenders: [contender] };
  return leaseOn(session, directory, ground, (giveBack) => {
    return new QueueGrant(session, directory, contender, request, giveBack);
  });
}

/** The lease on permits. All of one acquisition are made in one transaction, so they share its zxid. */
export function grantPermits(
  session: Session,
  directory: LockDirectory,
  permits: PermitNodes,
  request: LockRequest,
): GrantedLease {
  const { mode } = request;
  const key = nameOf(request);
  const fencingToken = fencingTokenOf(permits.czxid);
  const isCurrent = () => session.isCurrent && !permits.isGone;
  const ground = { key, nodes: permits, contenders: permits.contenders };
  return leaseOn(session, directory, ground, (giveBack) => ({ key, mode, fencingToken, isCurrent, giveBack }));
}

/** What a lease stands on. */
interface Ground {
  readonly key: string;
  readonly nodes: LeaseNodes;
  readonly contenders: readonly Contender[];
}

function leaseOn(
  session: Session,
  { releaseTimeoutMs }: LockDirectory,
  { key, nodes, contenders }: Ground,
  grantOf: (giveBack: () => Promise<void>) => Grant,
): GrantedLease {
  const grant = grantOf(() => {
    uncarry();
    unwatch.forEach((dispose) => dispose());
    return nodes.leave(releaseTimeoutMs);
  });
  const lease = new GrantedLease(grant);
  const uncarry = session.carry(lease);
  const unwatch = contenders.map((contender) => watchOwnNodeSoon(session, contender));
  nodes.onGone(() => lease.lose(new LockLostError(key, 'its znode was deleted by somebody else')));
  nodes.onRevoked(() => lease.revoke());
  return lease;
}

/** What the contender is granted whose turn has come in its line. */
class QueueGrant implements Grant {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly giveBack: () => Promise<void>;
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #contender: Contender;
  readonly #request: LockRequest;
  #note: IdleMarker | undefined;

  constructor(
    session: Session,
    directory: LockDirectory,
    contender: Contender,
    request: LockRequest,
    giveBack: () => Promise<void>,
  ) {
    this.key = nameOf(request);
    this.fencingToken = fencingTokenOf(contender.czxid);
    this.giveBack = giveBack;
    this.#session = session;
    this.#directory = directory;
    this.#contender = contender;
    this.#request = request;
  }

  get mode(): LockRequest['mode'] {
    return this.#contender.isExchanged ? 'read' : this.#request.mode;
  }

  get demand(): Demand {
    return new ContentionWatch(this.#session, this.#contender);
  }

  isCurrent(): boolean {
    return this.#session.isCurrent && !this.#contender.isGone;
  }

  noteKept(isKept: boolean): void {
    this.#note ??= new IdleMarker(this.#session, this.#contender, this.#request.label);
    this.#note.write(isKept);
  }

  /** What is not answered in time goes on by itself. */
  downgrade(): Promise<void> {
    const { label } = this.#request;
    const reading = becomeReader(this.#session, this.#directory, this.#contender, label);
    return settledWithin(reading, this.#directory.releaseTimeoutMs);
  }
}

const LOOK_AGAIN_MS = 10;

/** Who stands behind a contender that holds, and has to wait for it. */
class ContentionWatch implements Demand {
  readonly #session: Session;
  readonly #contender: Contender;

  constructor(session: Session, contender: Contender) {
    this.#session = session;
    this.#contender = contender;
  }

  watch(onDemand: () => void, onNone: () => void): Dispose {
    let isOver = false;
    this.#untilThere(() => isOver, onNone).then(
      () => isOver || onDemand(),
      () => isOver || onDemand(),
    );
    return () => {
      isOver = true;
    };
  }

  // A watch that stands when it is over is not taken back: the contender's own deletion, which is still to come, fires it.
  async #untilThere(isOver: () => boolean, onNone: () => void): Promise<void> {
    const { directory, name } = this.#contender;
    for (let isFirst = true; !isOver(); isFirst = false) {
      const { names, watch } = await this.#session.requests.watchChildren(directory);
      if (isOver()) return watch.remove();
      if (names.length > 1 && new WaitQueueSnapshot(names, lineKindOf(name)).isAwaited(name)) return;
      if (isFirst) onNone();
      await watch.fired;
      // Nobody was behind, and whoever has come has to wait: to look again would only make it wait longer.
      if (standingOf(name)?.kind !== 'read') return;
      // Readers come and go; each of them is not to make all others list the line.
      await pause(LOOK_AGAIN_MS, NEVER);
    }
  }
}

/** Notes in a contender's znode whether its lease is only kept. For others to see; what cannot be noted is not. */
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
  }

  write(isKept: boolean): void {
    this.#isKept = isKept;
    if (!this.#isWriting) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    this.#isWriting = true;
    while (this.#isKept !== this.#isNoted && !this.#isOver) {
      const isKept = this.#isKept;
      // What somebody else has written, such as a revocation, is never written over: not after one refusal either.
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
