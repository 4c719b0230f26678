import { onAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { Stat, Watch } from './requests.js';
import type { Session } from './session.js';

type Watching = Pick<Session, 'requests' | 'persistently'>;

/**
 * Resolves when something happened to the znode, since it was `seen` if that is given, or when it is not there; a hint to
 * look again, nothing more.
 * Rejects with `signal.reason`, at once and without leaving a watch. Stands through disconnections.
 */
export async function untilChanged(
  session: Watching,
  path: string,
  signal: AbortSignal,
  seen?: Pick<Stat, 'mzxid'>,
): Promise<void> {
  const watched = async () => {
    const watch = await session.requests.watch(path);
    await news(watch, signal, async () => seen !== undefined && (await isNewer(session, path, seen)));
  };
  await session.persistently(watched, signal).catch((error: unknown) => {
    if (!isKeeperError(error, 'noNode')) throw error;
  });
}

/**
 * Resolves to `true` when the children of a znode have changed, at once when they are such that `isNews`; or to `false`,
 * when the znode is not there. In all else like `untilChanged`.
 */
export async function untilChildrenChanged(
  session: Watching,
  path: string,
  signal: AbortSignal,
  isNews: (names: readonly string[]) => boolean,
): Promise<boolean> {
  const watched = async () => {
    const { names, watch } = await session.requests.watchChildren(path);
    await news(watch, signal, async () => isNews(names));
    return true;
  };
  return session.persistently(watched, signal).catch((error: unknown) => {
    if (isKeeperError(error, 'noNode')) return false;
    throw error;
  });
}

async function isNewer({ requests }: Watching, path: string, { mzxid }: Pick<Stat, 'mzxid'>): Promise<boolean> {
  const { stat } = await requests.read(path);
  return stat.mzxid !== mzxid;
}

/** Resolves when the watch fires, or at once, without it, when there is news already. */
async function news(watch: Watch, signal: AbortSignal, hasCome: () => Promise<boolean>): Promise<void> {
  const dispose = onAbort(signal, watch.remove);
  try {
    if (!(await hasCome())) await watch.fired;
  } finally {
    dispose();
    watch.remove();
  }
}
