import { anyAbort } from '../../async/abort.js';
import type { Cell } from '../../contract/cells.js';
import type { Requests, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilFired, unlessMissing, watching } from '../session/watch.js';

/** The value as it is: no older than what anybody had written before this was asked. */
export async function readCell(session: Session, path: string, signal: AbortSignal): Promise<Cell | undefined> {
  const look = () => Promise.all([session.requests.sync(path), cellAt(session.requests, path)]);
  const [, cell] = await session.persistently(look, signal);
  return cell;
}

/**
 * Resolves once the value is another than `seen`. Watches the znode, also where there is none; a wake-up is a hint.
 * @throws KeeperError, SessionEndedError, `signal.reason`
 */
export async function nextCell(
  session: Session,
  path: string,
  seen: Cell | undefined,
  signal: AbortSignal,
): Promise<Cell | undefined> {
  const limits = anyAbort([signal, session.signal]);
  const look = async (untilAbort: (watch: Watch) => Watch) => {
    const { watch } = await session.requests.watchExistence(path);
    return untilAbort(watch);
  };
  try {
    // With another session it may be another server, which is behind what was seen.
    await session.persistently(() => session.requests.sync(path), limits.signal);
    for (;;) {
      const watch = await watching(session, look, limits.signal);
      const cell = await session
        .persistently(() => cellAt(session.requests, path), limits.signal)
        .catch(without(watch));
      if (cell?.revision === seen?.revision) {
        await untilFired([watch], limits.signal);
        continue;
      }
      watch.remove();
      return cell;
    }
  } finally {
    limits.dispose();
  }
}

async function cellAt(requests: Requests, path: string): Promise<Cell | undefined> {
  const found = await unlessMissing(requests.read(path), undefined);
  return found && { data: found.data, version: found.stat.version, revision: found.stat.mzxid };
}

function without(watch: Watch): (error: unknown) => never {
  return (error) => {
    watch.remove();
    throw error;
  };
}
