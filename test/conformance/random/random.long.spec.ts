import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { startEmbeddedServer } from '../servers/embedded-server.js';
import { startRealServer } from '../servers/real-server.js';
import { compareAtRandom } from './compare.js';

const OPERATIONS = 600;
/** Nothing of it is deleted by the server itself, which would be at a time of its own. */
const SETTINGS = { containerCheckMs: 3_600_000 };

it('does the same at random as a real server', { timeout: 300_000 }, async () => {
  const seed = Number(process.env['CONFORMANCE_SEED'] ?? randomInt(1_000_000_000));
  console.log(`CONFORMANCE_SEED=${seed}`);
  await using real = await startRealServer(SETTINGS);
  await using embedded = await startEmbeddedServer(SETTINGS);
  const compared = await compareAtRandom(real, embedded, { seed, operations: OPERATIONS });
  expect(compared.operations).toBeGreaterThanOrEqual(OPERATIONS);
});
