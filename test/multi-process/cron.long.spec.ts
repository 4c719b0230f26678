import { describe, expect, it } from 'vitest';
import { watched } from './cron-cluster.js';

describe('a job of each second, on five processes whose clocks differ by up to 800 ms', () => {
  it('runs ticks again and again under a lock without a memory, planted here: the test beside this file can fail', async () => {
    const { twice } = await watched('tryOnly', 4);
    expect(twice.length).toBeGreaterThan(0);
  });
});
