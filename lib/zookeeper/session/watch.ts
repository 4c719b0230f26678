import { onAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { CreatedNode } from './requests.js';
import type { Session } from './session.js';

/**
 * Resolves when this very znode is gone; another one may be at its path then. Rejects with `signal.reason`, at once and
 * without leaving a watch. Stands through disconnections, not through the session's end.
 */
export async function untilGone(
  session: Pick<Session, 'requests' | 'persistently'>,
  { path, czxid }: CreatedNode,
  signal: AbortSignal,
): Promise<void> {
  const isGone = async (): Promise<boolean> => {
    const { stat, watch } = await session.requests.watchData(path);
    const dispose = onAbort(signal, watch.remove);
    if (stat.czxid === czxid) return (await watch.fired.finally(dispose)) === 'deleted';
    dispose();
    watch.remove();
    return true;
  };
  for (;;) {
    if (await session.persistently(isGone, signal).catch(goneWithout)) return;
  }
}

function goneWithout(error: unknown): true {
  if (isKeeperError(error, 'noNode')) return true;
  throw error;
}
