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

/** Resolves when one of the watches has fired. Rejects with `signal.reason`. Takes the others back. */
export async function untilFired(watches: readonly Watch[], signal: AbortSignal): Promise<void> {
  const first = Promise.race(watches.map(({ fired }) => fired));
  await orAbort(first, signal).finally(() => watches.forEach((watch) => watch.remove()));
}

/** What all of the requests answer; when one is refused, none of the watches that the others have set is left. */
export async function watchedAll<T extends { readonly watch: Watch }>(asked: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(asked);
  const watched = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = settled.find((one) => one.status === 'rejected');
  if (!refused) return watched;
  watched.forEach(({ watch }) => watch.remove());
  throw refused.reason;
}

/** Lists the children and watches them; where there is no such znode, watches for it to be made. */
export async function watchDirectory(
  { requests }: Pick<Session, 'requests'>,
  path: string,
): Promise<{ readonly names: readonly string[]; readonly watch: Watch }> {
  for (;;) {
    const listed = await unlessMissing(requests.watchChildren(path), undefined);
    if (listed) return listed;
    const { isThere, watch } = await requests.watchExistence(path);
    if (!isThere) return { names: [], watch };
    watch.remove();
  }
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
