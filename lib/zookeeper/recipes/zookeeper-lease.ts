import { onAbort } from '../../async/abort.js';
import { LockLostError } from '../../contract/errors.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import type { LockDirectory } from './lock-directory.js';

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
    mode: request.mode,
    fencingToken: contender.czxid,
    isCurrent: () => session.isCurrent && !contender.gone.aborted,
    giveBack: () => {
      uncarry();
      unwatch();
      return contender.leave(directory.releaseTimeoutMs);
    },
  });
  const uncarry = session.carry(lease);
  const unwatch = onAbort(contender.gone, () =>
    lease.lose(new LockLostError(request.key, 'its znode was deleted by somebody else')),
  );
  return lease;
}
