/**
 * Measures how fast a stock sells. 200 buyers in four sessions want a unit each, again and again, from one segment and
 * from 16. The stock is kept in ZooKeeper and in a store that answers at once.
 * `npm run bench:stock -- [--rounds 5] [--seconds 4] [--buyers 200] [--instances 4]`
 * Ends with 1 when a unit was sold twice, or is missing.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ZooKeeperServer } from '../lib/testing/index.js';
import { closeInstances, openInstances } from './support/instances.js';
import { printTable, writeResults } from './support/results.js';
import { median } from './support/statistics.js';
import { SwiftStore } from './support/swift-store.js';

const SEGMENTS = [1, 16];
const KEEPERS = ['ZooKeeper', 'a store'] as const;
const UNITS = 1_000_000;
const WARM_UP_MS = 500;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    buyers: { type: 'string', default: '200' },
    instances: { type: 'string', default: '4' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const [buyers, instanceCount] = [Number(values.buyers), Number(values.instances)];

interface Setting {
  readonly keeper: (typeof KEEPERS)[number];
  readonly segments: number;
}

interface Round extends Setting {
  /** The number of orders sold per second. */
  readonly rate: number;
  /** The number of units that are neither left nor sold; below zero, the number that were sold twice. */
  readonly missing: number;
}

const SETTINGS: readonly Setting[] = KEEPERS.flatMap((keeper) => SEGMENTS.map((segments) => ({ keeper, segments })));

await using server = await ZooKeeperServer.start();
const instances = await openInstances(instanceCount, server.connectString);
const results: Round[] = [];
for (let round = 0; round < rounds; round++) {
  // Interleaved, so that a slow minute of the machine affects all.
  for (const setting of SETTINGS) results.push(await measure(setting));
}
await closeInstances(instances);

const summary = SETTINGS.map(summaryOf);
printTable(summary);
writeResults('stock', { options: values, summary, rounds: results });
process.exitCode = results.every(({ missing }) => missing === 0) ? 0 : 1;

async function measure({ keeper, segments }: Setting): Promise<Round> {
  const key = `mug/${randomUUID()}`;
  const options = keeper === 'a store' ? { segments, store: new SwiftStore() } : { segments };
  const [stock, ...others] = instances.map((instance) => instance.stock(key, options));
  if (!stock) throw new Error('there must be at least one instance');
  await stock.restock(UNITS);
  const stocks = [stock, ...others];
  const begin = performance.now() + WARM_UP_MS;
  const end = begin + seconds * 1_000;
  let [sold, counted] = [0, 0];
  const buy = async (place: number) => {
    while (performance.now() < end) {
      if (!(await stocks[place % stocks.length]?.deduct(1))) throw new Error('sold out: start with more units');
      sold++;
      const now = performance.now();
      if (now >= begin && now < end) counted++;
    }
  };
  await Promise.all(Array.from({ length: buyers }, (_, place) => buy(place)));
  return { keeper, segments, rate: counted / seconds, missing: UNITS - sold - (await stock.available()) };
}

function summaryOf({ keeper, segments }: Setting) {
  const own = results.filter((round) => round.keeper === keeper && round.segments === segments);
  return {
    'kept in': keeper,
    segments,
    'orders/s': median(own.map(({ rate }) => rate)).toFixed(0),
    missing: own.reduce((sum, { missing }) => sum + missing, 0),
  };
}
