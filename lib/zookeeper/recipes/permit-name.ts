/**
 * What the names in a semaphore's directories say. Pure.
 *
 * `<path>/leases` has one znode a permit, `_c_<uuid>-lease-0000000007`, as Curator's InterProcessSemaphoreV2 writes them;
 * anything else there is no permit and takes none. They are no contenders of a lock: nothing is in order among them.
 */
export const PERMIT_MARK = 'lease-';

/** Where a semaphore's parts are, below its path. */
export const GATE = 'locks';
export const PERMITS = 'leases';
export const COUNT = 'permits';

const NAME = /lease-(\d{10}|-\d{9,10})$/;

/** The number that the parent gave to a permit; `undefined` for what is none. */
export function permitNumber(name: string): number | undefined {
  const [, number] = NAME.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** How many permits are taken. */
export function countPermits(names: readonly string[]): number {
  return names.filter((name) => NAME.test(name)).length;
}
