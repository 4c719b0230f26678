import type { Holder, LocalTenure } from './local-tenure.js';
import type { LocalWaiter } from './local-waiter.js';

/** One caller in a local line, for whoever looks. */
export interface LocalCaller {
  readonly state: 'held' | 'waiting';
  readonly label: string | undefined;
  readonly since: Date;
}

/** Those inside the tenures, up to `most`. */
export function localHolders(tenures: readonly LocalTenure[], most: number): LocalCaller[] {
  return tenures.flatMap((tenure) => tenure.firstHolders(most).map(asHolder)).slice(0, most);
}

/** Those inside the tenures, and those who wait behind them. */
export function localCallers(tenures: readonly LocalTenure[], waiting: Iterable<LocalWaiter>): LocalCaller[] {
  const inside = tenures.flatMap(({ holders }) => holders);
  const holders = inside.map(asHolder);
  const waiters = Array.from(waiting, ({ request, since }): LocalCaller => {
    return { state: 'waiting', label: request.label, since };
  });
  return [...holders, ...waiters];
}

function asHolder({ lease, label }: Holder): LocalCaller {
  return { state: 'held', label, since: lease.acquiredAt };
}
