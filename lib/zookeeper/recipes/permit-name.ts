/**
 * What the names in a semaphore's directories say. Pure.
 *
 * `<path>/leases` has one znode a permit, `_c_<uuid>-lease-0000000007`, as Curator's InterProcessSemaphoreV2 writes them;
 * anything else there is no permit and takes none. They are no contenders of a lock: nothing is in order among them.
 */
import { markedNumber, PERMIT_MARK, SEMAPHORE_PARTS } from '../session/contender-name.js';

export const { gate: GATE, permits: PERMITS, count: COUNT } = SEMAPHORE_PARTS;

const MARKS = [PERMIT_MARK] as const;

/** The number that the parent gave to a permit; `undefined` for what is none. */
export function permitNumber(name: string): number | undefined {
  return markedNumber(name, MARKS)?.number;
}

/** How many permits are taken. */
export function countPermits(names: readonly string[]): number {
  return names.filter((name) => permitNumber(name) !== undefined).length;
}
