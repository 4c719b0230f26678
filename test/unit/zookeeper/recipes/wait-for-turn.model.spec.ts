import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LinePlay } from './wait-queue-play.js';
import type { Step } from './wait-queue-play.js';

// alone: one of the longest files.

const which = fc.nat({ max: 20 });
const client = fc.nat({ max: 1 });
const count = fc.integer({ min: 1, max: 4 });
const typed = <T extends Step['type']>(...types: T[]) => fc.constantFrom(...types);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      type: typed('wait'),
      client,
      mode: fc.constantFrom('exclusive', 'read', 'write'),
      isTry: fc.constantFrom(false, false, true),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({ type: typed('foreign enters'), kind: fc.constantFrom('lock', 'read', 'write', 'write') }),
    weight: 3,
  },
  { arbitrary: fc.record({ type: typed('foreign leaves'), which, isDowngrade: fc.boolean() }), weight: 4 },
  { arbitrary: fc.record({ type: typed('abort', 'release'), which }), weight: 3 },
  { arbitrary: fc.record({ type: typed('servers read', 'client reads'), client, count }), weight: 6 },
  { arbitrary: fc.record({ type: typed('a moment passes') }), weight: 2 },
  { arbitrary: fc.record({ type: typed('all pass', 'disconnect', 'reconnect'), client }), weight: 3 },
);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a wait queue of two sessions and foreign contenders', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  afterEach(() => void vi.useRealTimers());

  it(
    'never grants too early, always grants in the end, and leaves no watch, whatever happens',
    { timeout: 300_000 },
    async () => {
      const failures: unknown[] = [];
      const unhandled = (reason: unknown) => void failures.push(reason);
      process.on('unhandledRejection', unhandled);
      const steps = fc.array(step, { minLength: 1, maxLength: 110, size: 'max' });
      const property = fc.asyncProperty(steps, fc.boolean(), async (all, isGivenUp) => {
        failures.length = 0;
        const play = new LinePlay();
        for (const each of all) await play.take(each);
        if (isGivenUp) await play.giveUp();
        await play.end();
        await turn();
        expect(failures).toEqual([]);
      });
      try {
        await fc.assert(property, { numRuns: 600 });
      } finally {
        process.off('unhandledRejection', unhandled);
      }
    },
  );
});
