import { onAbort, orAbort } from '../../async/abort.js';
import { isKeeperError } from './requests.js';
import type { CreatedNode, Stat, Watch } from './requests.js';
import type { Session } from './session.js';

type Watching = Pick<Session, 'requests' | 'persistently'>;

/** A watch of which only the firing matters, not the event. */
interface Fired extends Pick<Watch, 'remove'> {
  readonly fired: Promise<unknown>;
}

/**
 * Resolves when the znode has changed, or when it does not exist. If `seen` is given, a change since then counts too.
 * The result is only a hint to look again.
 * Rejects with `signal.reason`, at once and without leaving a watch.
 * The watch survives disconnections, but not the end of the session. After that end nothing fires, so the signal must
 * abort then.
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
 * Resolves to `true` when the children of a znode have changed, or at once when `isNews` accepts the present ones.
 * Resolves to `false` when the znode does not exist. In all else it is like `untilChanged`.
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
 * Repeats a request that sets watches until it is answered. When the signal aborts, the watches are removed. A watch
 * that is set only after that is removed at once.
 */
export function watching<T>(
  session: Pick<Session, 'persistently'>,
  ask: (untilAbort: (watch: Watch) => Watch) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const untilAbort = (watch: Watch): Watch => {
    const dispose = onAbort(signal, () => watch.remove());
    void watch.fired.then(dispose);
    const remove = () => {
      dispose();
      watch.remove();
    };
    return { fired: watch.fired, remove };
  };
  return session.persistently(() => ask(untilAbort), signal);
}

/** Resolves when one of the watches has fired, and removes the others. Rejects with `signal.reason`. */
export async function untilFired(watches: readonly Fired[], signal: AbortSignal): Promise<void> {
  const first = Promise.race(watches.map(({ fired }) => fired));
  await orAbort(first, signal).finally(() => watches.forEach((watch) => watch.remove()));
}

/** Like `untilFired`, but resolves without waiting for the watch when `isNews` resolves to `true`. */
function untilFiredUnless(isNews: Promise<boolean>, watch: Watch, signal: AbortSignal): Promise<void> {
  const fired = isNews.then((isSo) => (isSo ? undefined : watch.fired));
  return untilFired([{ fired, remove: () => watch.remove() }], signal);
}

async function isNewer({ requests }: Watching, path: string, { mzxid }: Pick<Stat, 'mzxid'>): Promise<boolean> {
  const { stat } = await requests.read(path);
  return stat.mzxid !== mzxid;
}

/** Returns the result of a request, or `none` if the znode does not exist. */
export async function unlessMissing<T, N>(asked: Promise<T>, none: N): Promise<T | N> {
  try {
    return await asked;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return none;
    throw error;
  }
}

/**
 * Resolves when this very znode is deleted, even if another one has been created at its path. Rejects with
 * `signal.reason`, at once and without leaving a watch. The watch survives disconnections, but not the end of the
 * session.
 */
export async function untilGone(
  session: Pick<Session, 'requests' | 'persistently'>,
  { path, czxid }: CreatedNode,
  signal: AbortSignal,
): Promise<void> {
  const isGone = async (): Promise<boolean> => {
    const { stat, watch } = await session.requests.watchData(path);
    const dispose = onAbort(signal, () => watch.remove());
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
