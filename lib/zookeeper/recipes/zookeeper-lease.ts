import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/fencing-token.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { Grant } from '../../contract/granted-lease.js';
import { nameOf } from '../../contract/keyed-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import type { HeldNodes } from './held-nodes.js';
import { LineGrant } from './line-grant.js';
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
  const ground = { key: nameOf(request), nodes: contender, contenders: [contender] };
  return leaseOn(session, directory, ground, (giveBack) => {
    return new LineGrant(session, directory, contender, request, giveBack);
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
  readonly nodes: HeldNodes;
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
