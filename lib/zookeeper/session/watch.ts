import { onAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { Session } from './session.js';

/**
 * Resolves when something happened to the znode, or when it is not there; a hint to look again, nothing more.
 * Rejects with `signal.reason`, at once and without leaving a watch. Stands through disconnections.
 */
export async function untilChanged(session: Session, path: string, signal: AbortSignal): Promise<void> {
  const watched = async () => {
    const watch = await session.requests.watch(path);
    const dispose = onAbort(signal, watch.remove);
    await watch.fired.finally(dispose);
  };
  await session.persistently(watched, signal).catch((error: unknown) => {
    if (!isKeeperError(error, 'noNode')) throw error;
  });
}
