import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/fencing-token.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { Grant } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import type { HeldNodes } from './held-nodes.js';
import { KeptNote } from './kept-note.js';
import { LineDemand } from './line-demand.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNodeSoon } from './own-node-watch.js';
import type { PermitNodes } from './permit-nodes.js';

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
  const note = new KeptNote(session, contender, request.label);
  const demand = new LineDemand(session, contender);
  const grant = { ...grantOn(session, contender, request), demand, noteKept: (isKept: boolean) => note.write(isKept) };
  return leaseOn(session, directory, contender, grant, [contender]);
}

/** The lease on permits. All of one acquisition are made in one transaction, so they share its zxid. */
export function grantPermits(
  session: Session,
  directory: LockDirectory,
  permits: PermitNodes,
  request: LockRequest,
): GrantedLease {
  return leaseOn(session, directory, permits, grantOn(session, permits, request), permits.contenders);
}

function grantOn(session: Session, nodes: HeldNodes, { key, mode }: LockRequest): Omit<Grant, 'giveBack'> {
  return {
    key,
    mode,
    fencingToken: fencingTokenOf(nodes.czxid),
    isCurrent: () => session.isCurrent && !nodes.isGone,
  };
}

function leaseOn(
  session: Session,
  { releaseTimeoutMs }: LockDirectory,
  nodes: HeldNodes,
  grant: Omit<Grant, 'giveBack'>,
  contenders: readonly Contender[],
): GrantedLease {
  const lease = new GrantedLease({
    ...grant,
    giveBack: () => {
      uncarry();
      unwatch.forEach((dispose) => dispose());
      return nodes.leave(releaseTimeoutMs);
    },
  });
  const uncarry = session.carry(lease);
  const unwatch = contenders.map((contender) => watchOwnNodeSoon(session, contender));
  nodes.onGone(() => lease.lose(new LockLostError(grant.key, 'its znode was deleted by somebody else')));
  nodes.onRevoked(() => lease.revoke());
  return lease;
}
