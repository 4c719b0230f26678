import type { Session } from './session.js';
import type { Watch } from './requests.js';
import { untilFired, unlessMissing, watching } from './watch.js';

type Asked = Pick<Session, 'requests' | 'persistently'>;

interface WatchedNames {
  readonly names: readonly string[];
  readonly watch: Watch;
}

/**
 * Lists the children of directories, and lists them again after each change, until `look` returns a value. A directory
 * that does not exist counts as empty. Rejects with `signal.reason`, leaving no watch.
 */
export async function untilSeen<T>(
  session: Asked,
  paths: readonly string[],
  signal: AbortSignal,
  look: (...names: readonly (readonly string[])[]) => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const watched = await watchDirectories(session, paths, signal);
    const watches = watched.map(({ watch }) => watch);
    const takeBack = () => watches.forEach((watch) => watch.remove());
    const seen = await look(...watched.map(({ names }) => names)).catch((error: unknown) => {
      takeBack();
      throw error;
    });
    if (seen === undefined) {
      await untilFired(watches, signal);
      continue;
    }
    takeBack();
    return seen;
  }
}

function watchDirectories(session: Asked, paths: readonly string[], signal: AbortSignal): Promise<WatchedNames[]> {
  const ask = async (untilAbort: (watch: Watch) => Watch) => {
    const asked = await Promise.allSettled(paths.map((path) => watchDirectory(session, path)));
    const watched = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = asked.find((one) => one.status === 'rejected');
    if (!refused) return watched.map(({ names, watch }) => ({ names, watch: untilAbort(watch) }));
    watched.forEach(({ watch }) => watch.remove());
    throw refused.reason;
  };
  return watching(session, ask, signal);
}

/** Lists and watches the children. If the directory does not exist, watches for its creation instead. */
async function watchDirectory({ requests }: Asked, path: string): Promise<WatchedNames> {
  for (;;) {
    const listed = await unlessMissing(requests.watchChildren(path), undefined);
    if (listed) return listed;
    const { isThere, watch } = await requests.watchExistence(path);
    if (!isThere) return { names: [], watch };
    watch.remove();
  }
}
