import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { startEmbeddedServer } from '../servers/embedded-server.js';
import { startRealServer } from '../servers/real-server.js';
import { compareAtRandom } from './compare.js';

const OPERATIONS = 600;
/** The server deletes no container by itself, because the time of that is not determined. */
const SETTINGS = { containerCheckMs: 3_600_000 };

it('gives the same results at random as a real server', { timeout: 300_000 }, async () => {
  const seed = Number(process.env['CONFORMANCE_SEED'] ?? randomInt(1_000_000_000));
  console.log(`CONFORMANCE_SEED=${seed}`);
  await using real = await startRealServer(SETTINGS);
  await using embedded = await startEmbeddedServer(SETTINGS);
  const compared = await compareAtRandom(real, embedded, { seed, operations: OPERATIONS });
  expect(compared.operations).toBeGreaterThanOrEqual(OPERATIONS);
});
