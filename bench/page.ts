/**
 * Measures what an open page costs the calls of its application: the time of a lock on a real ZooKeeper server, with the
 * page open over many held keys, and with it closed. Both take turns.
 * `npm run bench:page -- [--rounds 5] [--seconds 4] [--keys 10000]`
 */
import { parseArgs } from 'node:util';
import { startPage } from '../test/support/survey/page-app.js';
import { zookeeper } from '../lib/index.js';
import { ZooKeeperServer } from '../lib/testing/index.js';
import type { LockService } from '../lib/service/lock.service.js';
import { closeInstances, openInstances } from './support/instances.js';
import { median, quantile } from './support/statistics.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    keys: { type: 'string', default: '10000' },
  },
});
const [rounds, windowMs, keys] = [Number(values.rounds), 1_000 * Number(values.seconds), Number(values.keys)];

const AT_ONCE = 500;
const CALLERS = 4;
const POLL_MS = 1_000;

await using server = await ZooKeeperServer.start();
const [holder] = await openInstances(1, server.connectString);
for (let first = 0; first < keys; first += AT_ONCE) {
  const some = Array.from({ length: Math.min(AT_ONCE, keys - first) }, (_, at) => `held/${first + at}`);
  await Promise.all(some.map((key) => holder?.acquire(key)));
}
await using page = await startPage(zookeeper({ connectString: server.connectString, basePath: '/bench' }));

const closed: number[][] = [];
const open: number[][] = [];
// One more round at first: code is cold then.
for (let round = -1; round < rounds; round++) {
  const without = await timesOfCalls(page.locks);
  const poll = setInterval(() => void page.poll(), POLL_MS);
  const beside = await timesOfCalls(page.locks);
  clearInterval(poll);
  if (round < 0) continue;
  closed.push(without);
  open.push(beside);
}
await closeInstances([holder!]);

for (const [name, share] of [
  ['median', 0.5],
  ['p99', 0.99],
] as const) {
  const [without, beside] = [closed, open].map((all) => median(all.map((times) => quantile(times, share))));
  const ratio = (beside! / without!).toFixed(2);
  console.log(
    `${name}: ${without!.toFixed(2)} ms with the page closed, ${beside!.toFixed(2)} ms with it open (${ratio})`,
  );
}

/** Returns the times of calls in a window, in milliseconds. */
async function timesOfCalls(locks: LockService): Promise<number[]> {
  const until = performance.now() + windowMs;
  const times: number[] = [];
  const call = async (key: string) => {
    while (performance.now() < until) {
      const begun = performance.now();
      await locks.using(key, () => {});
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(`call/${caller}`)));
  return times;
}
