import { describe, expect, it } from 'vitest';
import { tryFailOvers } from './fail-over.js';
import { DEFECTS } from './rules.js';
import { SCOPES } from './scopes.js';

const TWO = 'two processes believe that they hold the key';
const SAME_TOKEN = /^token \d+ after \d+$/;

describe('the rules of restart and fail-over', () => {
  it.each(Object.entries(SCOPES))('hold in every order of events with %s', async (_name, scope) => {
    const { violation, isComplete, states, grants, failures } = await tryFailOvers(scope);
    expect(violation).toBeUndefined();
    expect(isComplete).toBe(true);
    expect(states).toBeGreaterThan(4_000);
    expect(grants).toBeGreaterThan(states);
    if (scope.failures > 0) expect(failures).toBeGreaterThan(500);
  });
});

/** Where each defect is found, and what it leads to. */
const FOUND: Readonly<Record<string, readonly [scope: keyof typeof SCOPES, what: string | RegExp]>> = {
  'no settling': ['a promotion', SAME_TOKEN],
  'settling that is shorter than the timeout': ['a promotion', TWO],
  'a grant by an unsettled server': ['a promotion', TWO],
  'no adopting': ['a promotion', TWO],
  'a new deadline before the adoption is answered': ['a promotion', TWO],
  'adoption after the deadline': ['a promotion', TWO],
  'an adoption under two entries': ['a lost request', TWO],
  'a deadline from the reply': ['a late message', TWO],
  'a renewal that revives': ['a late message', TWO],
  'a token from a counter only': ['a restart without data', SAME_TOKEN],
  'requests that any server takes': ['a promotion', TWO],
  'belief until the release is answered': ['a late message', TWO],
  'a split without min-replicas': ['a split', SAME_TOKEN],
};

describe('a rule that is left out', () => {
  it.each(Object.entries(DEFECTS))('is found: %s', async (name, changes) => {
    const [scope, what] = FOUND[name] ?? [];
    const { violation } = await tryFailOvers(SCOPES[scope ?? 'a promotion'], changes);
    expect(violation?.what).toMatch(what ?? '');
    expect(violation?.steps.length).toBeGreaterThan(2);
  });

  it('is each of the rules', () => {
    expect(Object.keys(FOUND)).toEqual(Object.keys(DEFECTS));
  });
});
