import { onAbort, orAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { CreatedNode, Stat, Watch } from './requests.js';
import type { Session } from './session.js';

type Watching = Pick<Session, 'requests' | 'persistently'>;

/** A watch of which nothing counts but that it fires. */
interface Fired extends Pick<Watch, 'remove'> {
  readonly fired: Promise<unknown>;
}

/**
 * Resolves when something happened to the znode, since it was `seen` if that is given, or when it is not there; a hint to
 * look again, nothing more.
 * Rejects with `signal.reason`, at once and without leaving a watch. Stands through disconnections, not through the session's
 * end: then nothing fires any more, so the signal has to say so.
 */
export async function untilChanged(
  session: Watching,
  path: string,
  signal: AbortSignal,
  seen?: Pick<Stat, 'mzxid'>,
): Promise<void> {
  const watched = async () => {
    const watch = await session.requests.watch(path);
    const hasChanged = seen === undefined ? Promise.resolve(false) : isNewer(session, path, seen);
    await untilFiredUnless(hasChanged, watch, signal);
  };
  await unlessMissing(session.persistently(watched, signal), undefined);
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
    await untilFiredUnless(Promise.resolve(isNews(names)), watch, signal);
    return true;
  };
  return unlessMissing(session.persistently(watched, signal), false);
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
export async function untilFired(watches: readonly Fired[], signal: AbortSignal): Promise<void> {
  const first = Promise.race(watches.map(({ fired }) => fired));
  await orAbort(first, signal).finally(() => watches.forEach((watch) => watch.remove()));
}

/** As `untilFired`; does not wait for the watch when it turns out that there is news already. */
function untilFiredUnless(isNews: Promise<boolean>, watch: Watch, signal: AbortSignal): Promise<void> {
  const fired = isNews.then((isSo) => (isSo ? undefined : watch.fired));
  return untilFired([{ fired, remove: watch.remove }], signal);
}

async function isNewer({ requests }: Watching, path: string, { mzxid }: Pick<Stat, 'mzxid'>): Promise<boolean> {
  const { stat } = await requests.read(path);
  return stat.mzxid !== mzxid;
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
