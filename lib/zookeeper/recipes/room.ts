import { orAbort } from '../../async/abort.js';
import { LiveValue } from '../session/live-value.js';
import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import type { Turn } from './acquire.js';
import { CounterEndingError, isNearTheEnd } from './counter.js';
import type { PermitCount } from './permit-count.js';
import { countPermits, permitNumber } from './permit-name.js';
import type { PermitNodes } from './permit-nodes.js';
import { PlaceLostError } from './place-lost-error.js';

/** Where the permits of a semaphore are, and how many there may be. */
export interface Room {
  readonly path: string;
  readonly count: PermitCount;
}

/** Permits whose znodes are made, and what there was then, as far as that was learned in the same round trip. */
export interface PermitEntry {
  readonly contender: PermitNodes;
  readonly names: readonly string[] | undefined;
  /** How many permits there may be. */
  readonly most: number | undefined;
}

/** Whether so many permits more are free, as far as that is to be seen without taking them. */
export async function hasRoom(session: Session, room: Room, permits: number, signal: AbortSignal): Promise<boolean> {
  const { requests } = session;
  const look = () => Promise.all([unlessMissing(requests.children(room.path), []), room.count.read(requests)]);
  const [names, most] = await session.persistently(look, signal);
  return countPermits(names) + permits <= most;
}

/** The turn of whoever has the gate: when there are no more permits than there may be, its own among them. */
export function turnWithRoom(session: Session, room: Room, wait: boolean): Turn<PermitEntry> {
  return {
    isNow: ({ contender, names, most }) => {
      checkNumbers(contender);
      return names !== undefined && most !== undefined && fits(contender, names, most);
    },
    comes: async ({ contender }, signal) => {
      if (wait) return untilRoom(session, room, contender, signal);
      const { requests } = session;
      const look = () => Promise.all([unlessMissing(requests.children(room.path), []), room.count.read(requests)]);
      return fits(contender, ...(await session.persistently(look, signal)));
    },
  };
}

async function untilRoom(session: Session, { path, count }: Room, contender: PermitNodes, signal: AbortSignal) {
  const { requests } = session;
  const permits = new LiveValue(() => requests.watchChildren(path));
  const most = new LiveValue(() => count.watch(requests));
  const look = () => Promise.all([permits.read(), most.read()]);
  try {
    for (;;) {
      const [{ names, watch }, counted] = await session.persistently(look, signal).catch(lostWithout(contender));
      if (fits(contender, names, counted.permits)) return true;
      await orAbort(Promise.race([watch.fired, counted.watch.fired]), signal);
    }
  } finally {
    permits.dispose();
    most.dispose();
  }
}

/** @throws PlaceLostError when own ones are not there */
function fits({ contenders }: PermitNodes, names: readonly string[], most: number): boolean {
  const present = new Set(names);
  const missing = contenders.find(({ name }) => !present.has(name));
  if (missing) throw new PlaceLostError(missing.path);
  return countPermits(names) <= most;
}

function checkNumbers({ contenders }: PermitNodes): void {
  const last = contenders.find(({ name }) => isNearTheEnd(permitNumber(name)));
  if (last) throw new CounterEndingError(last);
}

function lostWithout({ contenders }: PermitNodes): (error: unknown) => never {
  return (error) => {
    throw isKeeperError(error, 'noNode') && contenders[0] ? new PlaceLostError(contenders[0].path) : error;
  };
}
