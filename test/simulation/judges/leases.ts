import type { Hold } from '../../robustness/model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import { checkExclusion } from '../../robustness/validate/exclusion.js';
import { checkFencingTokens } from '../../robustness/validate/fencing-tokens.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';

type Leases = Pick<SimulationHistory, 'holds' | 'faults'>;

/**
 * Locks, segments, runs of a job and items of a queue are held by one process at a time, or by readers. Their tokens
 * increase. A reader that was the writer keeps the writer's token.
 */
export function checkLeases({ holds, faults }: Leases): Finding[] {
  const leases = named(holds.filter(({ kind }) => kind === undefined || kind === 'run' || kind === 'item'));
  const granted = leases.filter(({ isDowngraded }) => !isDowngraded);
  return [...checkExclusion({ holds: leases, faults }), ...checkFencingTokens({ holds: granted, faults })];
}

/**
 * There is one leader at a time, and each term has a larger token than the one before. Several callers may work under
 * one term.
 */
export function checkTerms({ holds, faults }: Leases): Finding[] {
  const terms = byKey(
    named(holds.filter(({ kind }) => kind === 'term')).map((hold) => ({
      ...hold,
      key: `${hold.key} ${hold.process} ${hold.token}`,
      name: hold.key,
    })),
  ).map(asOne);
  const judged = { holds: terms, faults };
  return [...checkExclusion(judged), ...checkFencingTokens(judged)].map((finding) => ({ ...finding, check: 'terms' }));
}

/** Merges all holds that a process had of one term. */
function asOne(holds: readonly (Hold & { readonly name: string })[]): Hold {
  const [first] = holds;
  return {
    ...first!,
    key: first!.name,
    from: Math.min(...holds.map(({ from }) => from)),
    seenUntil: Math.max(...holds.map(({ seenUntil }) => seenUntil)),
  };
}

/** Adds the kind to the key, because things of different kinds may have the same key. */
function named(holds: readonly Hold[]): Hold[] {
  return holds.map((hold) => (hold.kind === undefined ? hold : { ...hold, key: `${hold.kind} ${hold.key}` }));
}
