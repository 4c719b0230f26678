import { onAbort, orAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { Watch } from './requests.js';
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

/**
 * Asks for something with watches, persistently. A watch that is set when nobody waits for it any more, because the signal
 * has aborted, is taken back; so are those that stand when it does.
 */
export function watching<T>(
  session: Pick<Session, 'persistently'>,
  ask: (untilAbort: (watch: Watch) => Watch) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const untilAbort = (watch: Watch): Watch => {
    const dispose = onAbort(signal, watch.remove);
    void watch.fired.then(dispose);
    return { fired: watch.fired, remove: () => [dispose, watch.remove].forEach((undo) => undo()) };
  };
  return session.persistently(() => ask(untilAbort), signal);
}

/** Resolves when one of the watches has fired. Rejects with `signal.reason`. Takes the others back. */
export async function untilFired(watches: readonly Watch[], signal: AbortSignal): Promise<void> {
  const first = Promise.race(watches.map(({ fired }) => fired));
  await orAbort(first, signal).finally(() => watches.forEach((watch) => watch.remove()));
}

/** What a request answers, or `none` where there is no such znode. */
export async function unlessMissing<T, N>(asked: Promise<T>, none: N): Promise<T | N> {
  try {
    return await asked;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return none;
    throw error;
  }
}
