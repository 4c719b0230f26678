import { LinkedList } from '../../async/collections.js';
import { LinkLostError, isUndecided } from '../client/etcd-error.js';
import type { RefusedError } from '../client/etcd-error.js';
import { rangeBelow } from '../session/etcd-keys.js';
import type { EtcdSession } from '../session/etcd-session.js';
import type { Doubt } from '../session/outbox.js';
import type { Compare } from '../wire/requests.js';

/** The most names of a queue that are remembered. The others are not used again. */
const MOST_REMEMBERED = 10_000;

/** The beginnings of the keys of a queue. An item and its taker have the same last segment. */
export interface ItemKeys {
  readonly all: string;
  readonly items: string;
  readonly takers: string;
}

/**
 * The names of the items that one session puts into one queue. Names are used again: a server that reads a queue goes
 * through all names that were in it since the last compaction. The process that removes an item is most often another
 * one. So a put looks whether the items that were put first are gone.
 */
export class ItemNames {
  readonly #session: EtcdSession;
  /** The names that may be in use, the oldest first. */
  readonly #remembered = new LinkedList<string>();

  constructor(session: EtcdSession) {
    this.#session = session;
  }

  /** Returns up to so many names that may be free by now. Nobody else is given them before `remember`. */
  takeOldest(most: number): readonly string[] {
    const taken: string[] = [];
    for (let name: string | undefined; taken.length < most && (name = this.#remembered.shift());) taken.push(name);
    return taken;
  }

  /** Returns names for so many items, in their order: the free ones, and new ones. */
  filledUp(free: readonly string[], count: number): readonly string[] {
    const added = Array.from({ length: Math.max(0, count - free.length) }, () => this.#session.newName());
    return [...free, ...added].toSorted();
  }

  /** Takes names of items that are there. No request that is under way may put one of them. */
  remember(names: readonly string[]): void {
    for (const name of names) {
      if (this.#remembered.size < MOST_REMEMBERED) this.#remembered.join(name);
    }
  }
}

/** Items to be put. */
export interface Putting {
  readonly keys: ItemKeys;
  /** The items as they are stored. */
  readonly values: readonly Buffer[];
  readonly maxItems: number;
  readonly doubt: Doubt;
  /** The time for which the answer still counts after the caller's time is over, in milliseconds. */
  readonly lateMs: number;
  /** The names of the items, once they are chosen. */
  names?: readonly string[];
}

/**
 * Puts the items, if there is room. Resolves to whether they were put. `putting.doubt` says whether an error leaves that
 * open.
 * @throws SessionEndedError, RefusedError, `signal.reason`, and LinkLostError when the outcome cannot be known
 */
export async function putIn(
  session: EtcdSession,
  putting: Putting,
  names: ItemNames,
  signal: AbortSignal,
): Promise<boolean> {
  const { keys, values, doubt, lateMs } = putting;
  for (;;) {
    if (doubt.isSo) return isPut(session, putting, signal);
    const [chosen, room] = await Promise.all([
      putting.names ?? freeNames(session, putting, names, signal),
      roomIn(session, putting, signal),
    ]);
    putting.names = chosen;
    if (!room) return false;
    const success = values.map((value, place) => ({ kind: 'put', key: keys.items + chosen[place], value }) as const);
    try {
      const change = { about: [keys.items], compare: room, success, failure: [] };
      if (!(await session.change(change, { signal, doubt, isOnce: true, lateMs })).isMet) continue;
      // Otherwise a request that is under way may put them once more.
      if (!doubt.isSo) names.remember(chosen);
      return true;
    } catch (error) {
      if (isUndecided(error)) {
        doubt.isSo = true;
        return isPut(session, putting, signal, error);
      }
      if (!(error instanceof LinkLostError)) throw error;
    }
  }
}

/** Returns names for the items: those of items that are gone, and new ones. */
async function freeNames(
  session: EtcdSession,
  { keys, values }: Putting,
  names: ItemNames,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const asked = names.takeOldest(values.length);
  if (asked.length === 0) return names.filledUp([], values.length);
  const reads = asked.map((name) => ({ kind: 'read', key: keys.items + name, only: 'count' }) as const);
  const { results } = await session.read(reads, signal);
  const isFree = (_: string, place: number) => results[place]?.count === 0;
  names.remember(asked.filter((name, place) => !isFree(name, place)));
  return names.filledUp(asked.filter(isFree), values.length);
}

/** Returns the conditions on which there is room for the items. `undefined`: there is none. */
async function roomIn(
  session: EtcdSession,
  { keys, values, maxItems }: Putting,
  signal: AbortSignal,
): Promise<readonly Compare[] | undefined> {
  if (maxItems === Infinity) return [];
  const range = rangeBelow(keys.items);
  const { results, revision } = await session.read([{ kind: 'read', ...range, only: 'count' }], signal);
  if ((results[0]?.count ?? 0) + values.length > maxItems) return undefined;
  return [{ ...range, property: 'modified', is: 'less', than: revision + 1 }];
}

/**
 * Whether items are there that may have been put.
 * @throws the refusal that left it open, or LinkLostError: they may have been put and taken since
 */
async function isPut(
  session: EtcdSession,
  { keys, names: [first = ''] = [], doubt }: Putting,
  signal: AbortSignal,
  refusal?: RefusedError,
): Promise<boolean> {
  const { results } = await session.read([{ kind: 'read', key: keys.items + first, only: 'count' }], signal);
  if (results[0]?.count === 1) return true;
  if (!refusal) throw new LinkLostError('it was lost with an answer');
  doubt.isSo = false;
  throw refusal;
}
