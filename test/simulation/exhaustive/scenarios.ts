import type { Bounds } from './choices.js';
import type { ContenderOrders, Step } from './orders.js';

/** A fault that may happen once in a run, at any of its points. */
export type FaultKind = 'crash' | 'power-off' | 'reset' | 'abandon' | 'expiry' | 'reap' | 'server-kill';

/** A few contenders and one or two keys: small enough for every order. */
export interface Scenario {
  readonly name: string;
  readonly servers: number;
  /** The steps of each process's callers. */
  readonly processes: readonly ContenderOrders['callers'][];
  readonly localLine: boolean;
  readonly faults: readonly FaultKind[];
  readonly bounds: Bounds;
  /** The number of waiters that one release may wake: the next one, and the one behind it, which looks ahead. */
  readonly wakes: number;
}

const once = (lock: Step['lock'], ...keys: string[]): Step[] => [{ lock, keys: keys.length > 0 ? keys : ['stock'] }];
const twice = (lock: Step['lock'], ...keys: string[]): Step[] => [...once(lock, ...keys), ...once(lock, ...keys)];

const PROCESS_FAULTS: readonly FaultKind[] = ['crash', 'power-off'];
const SESSION_FAULTS: readonly FaultKind[] = ['reset', 'abandon', 'expiry'];
const ALL_FAULTS = [...PROCESS_FAULTS, ...SESSION_FAULTS];

const scenario = (name: string, processes: Scenario['processes'], others: Partial<Scenario> = {}): Scenario => ({
  name,
  processes,
  servers: 1,
  localLine: true,
  faults: ALL_FAULTS,
  bounds: { deviations: 2, faults: 1, deviationsWithFaults: 0 },
  wakes: 2,
  ...others,
});

/** These have so many more messages that only one at a time may be out of order. */
const OF_MANY = { bounds: { deviations: 1, faults: 1, deviationsWithFaults: 0 } };
const OF_FOUR = { faults: [], bounds: { deviations: 1, faults: 0, deviationsWithFaults: 0 } };

const TEN = Array.from({ length: 10 }, () => once('mutex')).flat();
const PAUSES = Array.from({ length: 4 }, () => once('pause')).flat();

export const SCENARIOS: readonly Scenario[] = [
  scenario('mutex', [[twice('mutex')], [twice('mutex')]]),
  // The smallest scenario, in which a fault is combined with a message out of order.
  scenario('mutex-once', [[once('mutex')], [once('mutex')]], {
    faults: ['reset', 'abandon', 'crash'],
    bounds: { deviations: 2, faults: 1, deviationsWithFaults: 1 },
  }),
  scenario('mutex-of-three', [[once('mutex')], [once('mutex')], [once('mutex')]], OF_MANY),
  scenario('mutex-of-four', [[once('mutex')], [once('mutex')], [once('mutex')], [once('mutex')]], OF_FOUR),
  // A process that acquires a key several times in a row recognises by its number that it is alone, until another one
  // comes between.
  scenario('succession', [[TEN], [[...PAUSES, ...once('mutex')]]], OF_MANY),
  scenario('no-local-line', [[once('mutex'), once('mutex')], [once('mutex')]], { localLine: false }),
  scenario('local-line', [
    [once('mutex'), once('mutex')],
    [once('mutex'), once('mutex')],
  ]),
  scenario('read-write', [[once('write')], [once('read')], [once('read')]], OF_MANY),
  scenario('reader-and-writers', [[once('read')], [once('write')], [once('write')]], OF_MANY),
  scenario('downgrade', [[once('downgrade')], [once('write')], [once('read')]], OF_MANY),
  scenario('set', [[once('set', 'stock', 'prices')], [once('set', 'prices', 'stock')]]),
  scenario('atomic-set', [[once('atomic set', 'stock', 'prices')], [once('atomic set', 'prices', 'stock')]]),
  scenario('no-line', [[twice('try')], [once('try')]]),
  scenario('semaphore', [[once('permit')], [once('permit')]], OF_MANY),
  // Between two acquisitions nobody is queued, so the directory may be removed.
  scenario(
    'reaper',
    [[[...once('mutex'), ...once('pause'), ...once('mutex')]], [[...once('pause'), ...once('mutex')]]],
    {
      faults: ['reap'],
      bounds: { deviations: 1, faults: 1, deviationsWithFaults: 1 },
    },
  ),
  scenario('ensemble', [[once('mutex')], [once('mutex')]], {
    servers: 3,
    faults: ['server-kill', 'reset', 'abandon', 'crash'],
  }),
];

/** @throws Error that names the existing scenarios */
export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found) return found;
  throw new Error(`there is no small scenario "${name}"; there are ${SCENARIOS.map((one) => one.name).join(', ')}`);
}
