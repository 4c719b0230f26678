import { describe, expect, it } from 'vitest';
import { BACKEND_FAULT_CHECKS, backendFaults } from '../../../../lib/testing/index.js';
import type { FaultAbility, FaultSubject } from '../../../../lib/testing/index.js';

const subject: FaultSubject = {
  server: () => ({ port: 1 }),
  sessionTimeoutMs: 2_000,
  open: () => Promise.reject(new Error('was opened')),
};

/** Declares the tests, and returns them by their titles. */
function declared(given: FaultSubject): ReadonlyMap<string, () => Promise<void>> {
  const tests = new Map<string, () => Promise<void>>();
  let part = '';
  const describePart = (title: string, body: () => void) => {
    part = title;
    body();
  };
  const declare = (title: string, body: () => Promise<void>) => tests.set(`${part}: ${title}`, body);
  backendFaults({ describe: describePart, it: declare }, given);
  return tests;
}

const needing = (ability: FaultAbility) => BACKEND_FAULT_CHECKS.filter(({ needs }) => needs === ability);

describe('the checks under faults', () => {
  it('are declared, each once', () => {
    const titles = BACKEND_FAULT_CHECKS.map(({ part, title }) => `${part}: ${title}`);
    expect([...declared(subject).keys()].sort()).toEqual(titles.sort());
  });

  it.each(['pause', 'restart', 'expire'] as const)(
    'fail when "%s" is neither possible nor declared',
    async (ability) => {
      expect(needing(ability)).not.toEqual([]);
      for (const check of needing(ability)) {
        await expect(check.run(subject)).rejects.toThrow(`the subject cannot cause "${ability}"`);
      }
    },
  );

  it.each(['pause', 'restart', 'expire'] as const)('say in their titles that "%s" is not checked', async (ability) => {
    const tests = declared({ ...subject, without: { [ability]: 'it runs elsewhere' } });
    const left = [...tests].filter(([title]) => title.endsWith(' (not checked: it runs elsewhere)'));
    expect(left).toHaveLength(needing(ability).length);
    for (const [, run] of left) await run();
  });
});
