import type { LocalTenure } from './local-tenure.js';
import type { LocalWaiter } from './local-waiter.js';

/** One caller in a local line, for whoever looks. */
export interface LocalCaller {
  readonly state: 'held' | 'waiting';
  readonly label: string | undefined;
  readonly since: Date;
}

/** Those inside a tenure, and those who wait behind it. */
export function localCallers(tenure: LocalTenure | undefined, waiting: Iterable<LocalWaiter>): LocalCaller[] {
  const holders = Array.from(tenure?.holders ?? [], ([lease, label]): LocalCaller => {
    return { state: 'held', label, since: lease.acquiredAt };
  });
  const waiters = Array.from(waiting, ({ request, sinceMs }): LocalCaller => {
    return { state: 'waiting', label: request.label, since: new Date(sinceMs) };
  });
  return [...holders, ...waiters];
}
