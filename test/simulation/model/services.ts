import type { Call } from './call.js';
import type { SimulationHistory } from './history.js';

const NAMES = ['simulation', 'billing'];

/** The service of an application. Applications belong to the services in turn. `process` is such as `app-2.1`. */
export function serviceOf(process: string, services: number): string {
  const [, place = '1'] = /^app-(\d+)/.exec(process) ?? [];
  return NAMES[(Number(place) - 1) % services] ?? '';
}

/** The objects that belong to one service. Locks, semaphores, segments and stock do not. */
const OWNED: readonly Call['on'][] = ['job', 'election', 'queue', 'barrier', 'double barrier', 'counter', 'value'];
const OWNED_HOLDS: readonly (string | undefined)[] = ['term', 'run', 'item', 'member'];

/** Prefixes names with their service, because objects of two services with the same name are different objects. */
export function keptApart(history: SimulationHistory, services: number): SimulationHistory {
  if (services === 1) return history;
  const named = (process: string, key: string) => `${serviceOf(process, services)}: ${key}`;
  return {
    ...history,
    calls: history.calls.map((one) =>
      OWNED.includes(one.call.on) ? { ...one, call: { ...one.call, key: named(one.process, one.call.key) } } : one,
    ),
    holds: history.holds.map((one) =>
      OWNED_HOLDS.includes(one.kind) ? { ...one, key: named(one.process, one.key) } : one,
    ),
    runs: history.runs.map((one) => ({ ...one, job: named(one.process, one.job) })),
  };
}
