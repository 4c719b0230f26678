import { orAbort } from '../../async/abort.js';
import { limited } from '../../async/limited.js';
import type { Session } from '../session/session.js';
import { CounterEndingError, isCounterEnding } from './counter.js';
import type { Turn } from './acquire.js';
import { watchOwnNode } from './own-node-watch.js';
import type { Entry } from './protected-create.js';
import { mayBeIdle } from './standing.js';
import type { Standing } from './standing.js';
import { WatchedPredecessors } from './watched-predecessors.js';

const LONGEST_GRACE_MS = 500;

type Place = Pick<Entry, 'contender' | 'line' | 'tookMs'>;

/**
 * The wait that every recipe with a line shares: see whom I wait for, watch the nearest, see again when there is news.
 * While the nearest still stands there, the second is watched as well (look-ahead): when that one goes, it is found out
 * who else has gone, so that nothing is left to ask when the nearest goes, and the turn comes with the event itself.
 * Resolves to whether it is the contender's turn: with `wait` only once it is, otherwise with the first answer.
 * Rejects with `signal.reason`, leaving no watch.
 */
export function turnInLine(session: Session, wait: boolean): Turn {
  return {
    isNow,
    comes: async (place, signal) => {
      const nearest = await ahead(place, signal);
      if (nearest.length === 0) return true;
      if (!wait) return mayGoAtOnce(nearest) && untilTurnOr(session, place, nearest, signal);
      await untilTurn(session, place, nearest, signal);
      return true;
    },
  };
}

/** The turn of a contender that never waits, not even for a predecessor that leaves at once: it is first, or has no turn. */
export function turnIfFirst(): Turn {
  return { isNow, comes: async (place, signal) => (await ahead(place, signal)).length === 0 };
}

function isNow(place: Place): boolean {
  return !isCounterEnding(place.contender.name) && isFirst(place);
}

/** The predecessors that the contender has to wait for. @throws CounterEndingError */
async function ahead(place: Place, signal: AbortSignal): Promise<readonly Standing[]> {
  if (isCounterEnding(place.contender.name)) throw new CounterEndingError(place.contender);
  return listed(place, signal);
}

/** Whether it is known that nobody is ahead. */
function isFirst({ contender, line }: Pick<Place, 'contender' | 'line'>): boolean {
  return line.knows(contender) && line.predecessors(contender).length === 0;
}

/** Whether the only one ahead is one who leaves at once, when it does not use the key. */
function mayGoAtOnce([nearest, second]: readonly Standing[]): boolean {
  return nearest !== undefined && second === undefined && mayBeIdle(nearest.name);
}

/** How long one takes to leave that is told by an event: its deletion, and the event of that. */
function graceMs({ tookMs }: Place): number {
  return Math.min(3 * tookMs + 5, LONGEST_GRACE_MS);
}

async function untilTurnOr(session: Session, place: Place, nearest: readonly Standing[], signal: AbortSignal) {
  const isTurn = await limited(graceMs(place), signal, async (limit) => {
    await untilTurn(session, place, nearest, limit);
    return true;
  });
  return isTurn ?? false;
}

/**
 * Nobody says that the contender's own znode is gone by saying that its predecessor's is. So its own is watched as well:
 * on one connection that event comes first. (Behind one of this session there is no other event; see docs/guarantees.md.)
 */
async function untilTurn(session: Session, place: Place, nearest: readonly Standing[], signal: AbortSignal) {
  const watched = new WatchedPredecessors(place.line, signal);
  const ownWatched = watchOwnNode(session, place.contender);
  try {
    for (let awaited = nearest; awaited.length > 0; awaited = isFirst(place) ? [] : await caughtUp(place, signal)) {
      watched.only(awaited);
      // One of this session may have gone just before it was watched.
      if (isFirst(place)) break;
      await watched.news();
    }
    await orAbort(ownWatched, signal);
  } finally {
    watched.dispose();
  }
}

/** Whom the contender waits for after there was news. */
async function caughtUp(place: Place, signal: AbortSignal): Promise<readonly Standing[]> {
  const nearest = await listed(place, signal);
  if (nearest.every(({ name }) => place.line.isAttended(name))) return nearest;
  await place.line.refresh(place.contender, signal);
  return listed(place, signal);
}

/** Whom it waits for, as far as that is known; the line is listed where nothing is. */
async function listed({ contender, line }: Place, signal: AbortSignal): Promise<readonly Standing[]> {
  while (!line.knows(contender)) await line.look(contender, signal);
  return line.predecessors(contender);
}
