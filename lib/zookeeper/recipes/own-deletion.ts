import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { SessionEndedError } from '../session/session-ended-error.js';
import { hasOwnName } from './standing.js';

/**
 * Deletes a contender's znode, for certain: through disconnections, until it is gone or the session is. Resolves to whether
 * that is so; never rejects.
 */
export async function deleteOwn(session: Session, node: CreatedNode): Promise<boolean> {
  const attempt = deletionOf(session, node);
  try {
    // Most often the first attempt does.
    await attempt().catch((error: unknown) => {
      if (isKeeperError(error, 'noNode')) throw error;
      return session.surely(attempt);
    });
    return true;
  } catch (error) {
    if (isKeeperError(error, 'noNode') || error instanceof SessionEndedError) return true;
    const why = String(error);
    process.emitWarning(`${node.path} can not be deleted; it blocks its line until the session ends: ${why}`);
    return false;
  }
}

/** One attempt after the other; of a shared name, only the first is made without looking whose znode it is. */
function deletionOf(session: Session, node: CreatedNode): () => Promise<void> {
  const { path } = node;
  const sharesItsName = !hasOwnName(path.slice(path.lastIndexOf('/') + 1));
  let mayBeAnothers = false;
  return async () => {
    if (mayBeAnothers && !(await isStillThere(session, node))) return;
    await session.requests.delete(path).catch((error: unknown) => {
      mayBeAnothers = sharesItsName && isConnectionLoss(error);
      throw error;
    });
  };
}

async function isStillThere({ requests }: Session, { path, czxid }: CreatedNode): Promise<boolean> {
  await requests.sync(path);
  return (await requests.read(path)).stat.czxid === czxid;
}
