import { it } from 'vitest';
import { expectFewLeftOf } from './use-once.js';

it(
  'a hundred thousand keys that are used once leave few znodes, and tokens still grow',
  { timeout: 600_000 },
  async () => {
    await expectFewLeftOf(100_000);
  },
);
