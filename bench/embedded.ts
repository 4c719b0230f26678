/**
 * Measures the embedded ZooKeeper: its start, and how many znodes are created and deleted per second over loopback. The
 * clients run in the same process, and each has several requests in flight.
 * `npm run bench:embedded -- [--seconds 3] [--clients 4] [--pipelined 64]`
 * Ends with 1 when a start takes 50 ms or fewer than 10 000 pairs per second are done.
 */
import { parseArgs } from 'node:util';
import { EmbeddedZooKeeper } from '../lib/testing/index.js';
import { PipeliningClient } from './support/pipelining-client.js';
import { median } from './support/statistics.js';

const START_LIMIT_MS = 50;
const FEWEST_PAIRS = 10_000;
const STARTS = 20;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4' },
    pipelined: { type: 'string', default: '64' },
  },
});
const [seconds, clients, pipelined] = [Number(values.seconds), Number(values.clients), Number(values.pipelined)];

const starts = await timesOfStarts();
const [firstMs = 0] = starts;
console.log(`start: the first ${firstMs.toFixed(1)} ms, median of ${STARTS} ${median(starts).toFixed(1)} ms`);
const pairs = await pairsPerSecond();
console.log(
  `create + delete: ${Math.round(pairs)} pairs a second (${clients} clients, ${pipelined} pairs on their way each)`,
);
process.exitCode = Math.max(...starts) < START_LIMIT_MS && pairs >= FEWEST_PAIRS ? 0 : 1;

async function timesOfStarts(): Promise<number[]> {
  const times: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    const startedAt = performance.now();
    await using _zookeeper = await EmbeddedZooKeeper.start();
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function pairsPerSecond(): Promise<number> {
  await using zookeeper = await EmbeddedZooKeeper.start();
  const opened = await Promise.all(Array.from({ length: clients }, () => PipeliningClient.open(zookeeper.port)));
  const startedAt = performance.now();
  const until = startedAt + 1_000 * seconds;
  const done = await Promise.all(opened.map((client, at) => client.createAndDelete(`/bench-${at}-`, pipelined, until)));
  const took = (performance.now() - startedAt) / 1_000;
  for (const client of opened) client.close();
  return done.reduce((sum, count) => sum + count, 0) / took;
}
