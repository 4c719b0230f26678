/**
 * The long comparison: `npm run conformance -- [--operations 10000] [--seed S]`. Applies the same random operations to
 * a real ZooKeeper and to the embedded server. Ends with the shortest sequence that they answer differently, if there
 * is one.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { compareAtRandom } from './random/compare.js';
import { writeSection } from './report/section.js';
import { startEmbeddedServer } from './servers/embedded-server.js';
import { startRealServer } from './servers/real-server.js';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    // Writes the result into docs/CONFORMANCE.md.
    write: { type: 'boolean', default: false },
  },
});
const [operations, seed] = [Number(values.operations), Number(values.seed)];
if (!Number.isSafeInteger(operations + seed)) throw new Error('--operations and --seed must be whole numbers');

const settings = { containerCheckMs: 3_600_000 };
await using real = await startRealServer(settings);
await using embedded = await startEmbeddedServer(settings);
console.log(`${operations} operations at random, seed ${seed}`);
try {
  const compared = await compareAtRandom(real, embedded, { seed, operations, onProgress: showProgress });
  const { sequences, lines } = compared;
  const result = `${compared.operations} operations in ${sequences} sequences of three clients (seed ${seed}): ${lines} lines of transcript, no difference.`;
  console.log(`\n${result}`);
  if (values.write) await writeSection('random', result);
} catch (error) {
  const { message, cause } = error as Error;
  console.error(`\n${message}\n\n${cause instanceof Error ? cause.message : ''}`);
  process.exitCode = 1;
}

function showProgress(done: number): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${done}`);
}
