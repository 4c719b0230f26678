import { settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/fencing-token.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { contenderData } from './contender-data.js';
import { becomeReader } from './downgrade.js';
import { LineDemand } from './line-demand.js';
import type { LockDirectory } from './lock-directory.js';
import { watchOwnNodeSoon } from './own-node-watch.js';

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
  const lease = new GrantedLease({
    key: request.key,
    get mode() {
      return contender.isExchanged ? 'read' : request.mode;
    },
    fencingToken: fencingTokenOf(contender.czxid),
    isCurrent: () => session.isCurrent && !contender.isGone,
    demand: new LineDemand(session, contender),
    noteKept: (isKept) => noteKept(session, contender, request, isKept),
    giveBack: () => {
      uncarry();
      unwatch();
      return contender.leave(directory.releaseTimeoutMs);
    },
    // What is not answered in time goes on by itself.
    downgrade: () =>
      settledWithin(becomeReader(session, directory, contender, request.label), directory.releaseTimeoutMs),
  });
  const uncarry = session.carry(lease);
  const unwatch = watchOwnNodeSoon(session, contender);
  contender.onGone(() => lease.lose(new LockLostError(request.key, 'its znode was deleted by somebody else')));
  return lease;
}

// For others to see, and nobody relies on it: what cannot be noted is not.
function noteKept({ requests }: Session, { path }: Contender, { label }: LockRequest, isKept: boolean): void {
  const data = contenderData(label, undefined, isKept || undefined);
  requests.multi([{ type: 'setData', path, data }]).catch(() => {});
}
