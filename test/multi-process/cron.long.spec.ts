import { describe, expect, it } from 'vitest';
import { watched } from './cron-cluster.js';

describe('a job of each second, on five processes whose clocks differ by up to 800 ms', () => {
  it('repeats ticks under a planted lock without memory, so the test in test/in-time/cron.spec.ts can fail', async () => {
    const { twice } = await watched('tryOnly', 4);
    expect(twice.length).toBeGreaterThan(0);
  });
});
