import type { LocalTenure } from './local-tenure.js';
import type { LocalWaiter } from './local-waiter.js';

/** One caller in a local line, for whoever looks. */
export interface LocalCaller {
  readonly state: 'held' | 'waiting';
  readonly label: string | undefined;
  readonly since: Date;
}

/** Those inside the tenures, and those who wait behind them. */
export function localCallers(tenures: readonly LocalTenure[], waiting: Iterable<LocalWaiter>): LocalCaller[] {
  const inside = tenures.flatMap(({ holders }) => holders);
  const holders = inside.map(({ lease, label }): LocalCaller => ({ state: 'held', label, since: lease.acquiredAt }));
  const waiters = Array.from(waiting, ({ request, since }): LocalCaller => {
    return { state: 'waiting', label: request.label, since };
  });
  return [...holders, ...waiters];
}
