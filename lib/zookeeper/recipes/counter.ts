/**
 * The end of the numbers. A directory numbers its children with a counter of 32 bits that counts every create and that
 * the servers do not let wrap: at the end several contenders get the same number, and no order can be told. So long
 * before, nobody lines up any more, and when the last has left the directory is made anew, which starts the counter again.
 */
import { pause } from '../../async/timer.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { numberOf } from './standing.js';

/** After so many the numbers of a directory are about to be used up. */
export const MOST_CREATES = 2 ** 31 - 2 ** 20;
const LOOK_AGAIN_MS = 100;

/** Nobody may line up here before the directory was made anew. */
export class CounterEndingError extends Error {
  readonly directory: string;

  /** @param path of the contender whose number says so */
  constructor(path: string) {
    super(`the numbers of ${path} are used up`);
    this.name = 'CounterEndingError';
    this.directory = path.slice(0, path.lastIndexOf('/'));
  }
}

export function isCounterEnding(name: string): boolean {
  return isNearTheEnd(numberOf(name));
}

/** Whether a directory that gives out such numbers is to be made anew. */
export function isNearTheEnd(number: number | undefined): boolean {
  return number !== undefined && (number > MOST_CREATES || number < 0);
}

/** Removes the directory once it is empty. `false`: it is not, and the caller does not wait. */
export async function restartCounter(
  session: Session,
  path: string,
  wait: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await session.persistently(() => session.requests.delete(path), signal);
      return true;
    } catch (error) {
      if (isKeeperError(error, 'noNode')) return true;
      if (!isKeeperError(error, 'notEmpty')) throw error;
    }
    if (!wait) return false;
    await pause(LOOK_AGAIN_MS, signal);
  }
}
