import type { Session } from '../session/session.js';
import { untilChanged } from '../session/watch.js';
import type { Place } from './place.js';
import { PlaceLostError } from './place-lost-error.js';
import { predecessorOf } from './predecessor.js';
import type { Entry } from './protected-create.js';

/**
 * The wait that every recipe with a line shares: look whom I wait for, watch that one znode, look again. A wake-up is
 * a hint: the line is read again after each. Resolves to whether it is the contender's turn: with `wait` only once it
 * is, otherwise with the answer of the first look. Rejects with `signal.reason`, leaving no watch.
 */
export function waitTurn(session: Session, place: Place, wait: boolean) {
  return async ({ contender, names: seen }: Entry, signal: AbortSignal): Promise<boolean> => {
    const look = () => session.persistently(() => session.requests.children(place.path), signal);
    for (let names = seen ?? (await look()); ; names = await look()) {
      const predecessor = predecessorOf(contender.name, names);
      if (predecessor === undefined) return true;
      if (predecessor === 'gone') throw new PlaceLostError(contender.path);
      if (!wait) return false;
      await untilChanged(session, `${place.path}/${predecessor}`, signal);
    }
  };
}
