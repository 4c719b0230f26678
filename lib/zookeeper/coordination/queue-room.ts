import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilSeen } from '../session/watched-directories.js';
import { isNumberEnding, itemsIn } from './queue-place.js';
import type { QueuePlace } from './queue-place.js';

/** Whether there is room for `count` more: with `wait` only once there is. Only for who has the turn to put. */
export async function hasRoom(
  session: Session,
  { items }: QueuePlace,
  { count, maxItems, wait }: { readonly count: number; readonly maxItems: number; readonly wait: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  return untilSeen(session, [items.path], signal, async (names = []) => {
    if (itemsIn(names).length + count <= maxItems) return true;
    return wait ? undefined : false;
  });
}

/**
 * Has the numbers of the queue begin again: removes its directory once it is empty, unless somebody has done so.
 * `false`: it is not empty, and the caller does not wait.
 */
export async function restartNumbers(
  session: Session,
  { items }: QueuePlace,
  wait: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  return untilSeen(session, [items.path], signal, async (all = []) => {
    const names = itemsIn(all);
    if (names.some(isNumberEnding)) return wait ? undefined : false;
    return names.length > 0 || (await isRemoved(session, items.path, signal)) || undefined;
  });
}

async function isRemoved(session: Session, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await session.persistently(() => session.requests.delete(path), signal);
  } catch (error) {
    if (isKeeperError(error, 'notEmpty')) return false;
    if (!isKeeperError(error, 'noNode')) throw error;
  }
  return true;
}
