import { describe, expect, it } from 'vitest';
import { SECOND_MS, watched } from '../multi-process/cron-cluster.js';

/** The ticks for which the five processes are observed: 12, or the value of CRON_TICKS. */
const TICKS = Number(process.env['CRON_TICKS'] ?? 12);
const LIMIT_MS = 60_000 + TICKS * 2 * SECOND_MS;

describe('a job of each second, on five processes whose clocks differ by up to 800 ms', () => {
  it(
    'runs once for each tick',
    async () => {
      const { runners, ...result } = await watched('guarded', TICKS);
      expect(result).toEqual({ ticks: TICKS, runs: TICKS, missing: [], twice: [] });
      expect(runners).toBeGreaterThanOrEqual(1);
    },
    LIMIT_MS,
  );
});
