import { expect, it } from 'vitest';
import { leftOf, MOST_LEFT } from './use-once.js';

it(
  'a hundred thousand keys that are used once leave few znodes, and tokens still grow',
  { timeout: 600_000 },
  async () => {
    expect(await leftOf(100_000)).toBeLessThanOrEqual(MOST_LEFT);
  },
);
