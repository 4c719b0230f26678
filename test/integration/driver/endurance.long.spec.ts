import { beforeAll, describe, expect, it } from 'vitest';
import { ZooKeeperServer } from '../../../lib/testing/index.js';
import { compilePrograms } from './support/driver-program.js';

/** A factor for the number of failures, for a longer run. */
const LENGTH = Number(process.env['ENDURANCE'] ?? 1);
const SERVICES = 15;
// Together 300 reconnects and 30 expiries; with ENDURANCE=17 5 100 and 510.
const ROUNDS = 22 * LENGTH;
const EXPIRE_EVERY = 11;
const LOOK_EVERY = 5;
const MOST_GROWTH_BYTES = 1_500_000;

interface Look {
  readonly heapBytes: number;
  readonly watches: number;
  readonly drivers: number;
  readonly resources: number;
  readonly connections: number;
  readonly warnings: number;
}

let server: ZooKeeperServer;
let start: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  start = await compilePrograms('endurance');
  server = await ZooKeeperServer.start();
  return () => server.stop();
});

describe('services whose connections are lost and whose sessions expire repeatedly', () => {
  it('need no more memory, watches, timers and sockets than at first', { timeout: 120_000 * LENGTH }, async () => {
    const program = start('endurance', {
      port: server.port,
      services: SERVICES,
      rounds: ROUNDS,
      expireEvery: EXPIRE_EVERY,
      lookEvery: LOOK_EVERY,
    });
    const { code, output } = await program.ended(120_000 * LENGTH);
    expect([code, output]).toEqual([0, '']);

    // The first samples are taken while code is still being compiled.
    const [, warm, ...looks] = program.said as Look[];
    expect(looks.length).toBeGreaterThanOrEqual(3);
    for (const look of looks) {
      expect(look).toMatchObject({ watches: 2 * SERVICES, connections: SERVICES, warnings: 0, drivers: SERVICES });
      expect(look.resources).toBeLessThanOrEqual(warm!.resources + SERVICES);
    }
    const growth = looks.map(({ heapBytes }) => heapBytes - warm!.heapBytes);
    if (LENGTH > 1)
      console.log(`heap growth at each look, in kB: ${growth.map((bytes) => Math.round(bytes / 1_024)).join(' ')}`);
    expect(Math.min(...growth.slice(-2))).toBeLessThan(MOST_GROWTH_BYTES);
  });
});
