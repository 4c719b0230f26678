/**
 * The long runs: `npm run endurance -- [turns|sets|giving-up|line] [--count N]`. Without a name, all of them run. Each
 * prints its findings, and the command fails when something is wrong.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import compileJava from '../interop/support/compile-java.js';
import { inOppositeOrders } from '../interop/support/opposite-orders.js';
import { takeTurns } from '../interop/support/turns.js';
import type { Party } from '../interop/support/turns.js';
import { giveUpAgainAndAgain } from './giving-up.js';
import { serveLongQueue } from './long-queue.js';
import { progress } from './progress.js';

interface Run {
  readonly what: string;
  readonly count: number;
  /** Resolves to whether nothing was wrong. */
  run(count: number): Promise<boolean>;
}

const MB = 1_048_576;

const RUNS: Readonly<Record<string, Run>> = {
  turns: {
    what: 'alternations of Node and Curator on a mutex and on a read-write lock, with kills',
    count: 1_000,
    run: turns,
  },
  sets: { what: 'rounds of multi-locks in opposite orders, by six processes', count: 500, run: sets },
  'giving-up': { what: 'acquisitions that time out', count: 100_000, run: givingUp },
  line: { what: 'waiters on one key', count: 5_000, run: line },
};

const { values, positionals } = parseArgs({ options: { count: { type: 'string' } }, allowPositionals: true });
const names = positionals.length === 0 ? Object.keys(RUNS) : positionals;
let isSound = true;
for (const name of names) {
  const known = RUNS[name];
  if (!known) throw new Error(`no run "${name}"; there are ${Object.keys(RUNS).join(', ')}`);
  const count = values.count === undefined ? known.count : Number(values.count);
  console.log(`\n${name}: ${count} ${known.what}`);
  isSound = (await known.run(count)) && isSound;
}
process.exitCode = isSound ? 0 : 1;

async function turns(count: number): Promise<boolean> {
  await compileJava();
  return withServer(async (connectString) => {
    const path = () => `/turns-${randomUUID()}`;
    const mutex = { path: path(), kind: 'mutex' };
    const readWrite = { path: path(), kind: 'write' };
    const kinds = ['read', 'write'];
    const pairs: Party[][] = [
      (['node', 'java'] as const).map((language) => ({ language, lock: mutex })),
      (['node', 'java', 'node', 'java'] as const).map((language) => ({ language, lock: readWrite, kinds })),
    ];
    let isGood = true;
    for (const parties of pairs) {
      const show = progress(count);
      const onProgress = (done: number, kills: number) => show(done, `${kills} kills`);
      const { tenures, ...outcome } = await takeTurns({
        connectString,
        parties,
        alternations: count,
        killAfter: 20,
        onProgress,
      });
      console.log(`${parties[0]?.lock.kind}: ${tenures.length} tenures`, outcome, 'nobody stuck');
      isGood &&= outcome.overlaps === 0;
    }
    return isGood;
  });
}

async function sets(count: number): Promise<boolean> {
  return withServer(async (connectString) => {
    let isGood = true;
    for (const how of ['atomic', 'in order'] as const) {
      const outcome = await inOppositeOrders({ connectString, how, rounds: Math.ceil(count / 6) });
      console.log(how, outcome);
      isGood &&= outcome.timeouts === 0 && outcome.overlaps === 0;
    }
    return isGood;
  });
}

async function givingUp(count: number): Promise<boolean> {
  let isGood = true;
  for (const localLine of [false, true]) {
    const { early, late, timeouts } = await giveUpAgainAndAgain({
      cycles: count,
      localLine,
      onProgress: progress(count),
    });
    const grownMb = (late.heapBytes - early.heapBytes) / MB;
    console.log({ localLine, timeouts, early, late, grownMb });
    isGood &&= late.watches === 1 && late.znodes === early.znodes && grownMb < 4;
  }
  return isGood;
}

async function line(count: number): Promise<boolean> {
  const show = { queued: progress(count), served: progress(count) };
  const outcome = await serveLongQueue({ waiters: count, onProgress: (phase, done) => show[phase](done, phase) });
  console.log(outcome);
  const { served, outOfOrder, notifications, lists, watchesLeft } = outcome;
  const isCheap = notifications <= 3 * count && lists === 0;
  return served === count && outOfOrder === 0 && watchesLeft === 0 && isCheap;
}

/** Runs `work` with a server that has short ticks, which allow short sessions. */
async function withServer(work: (connectString: string) => Promise<boolean>): Promise<boolean> {
  const server = await ZooKeeperServer.start({ tickTimeMs: 500 });
  try {
    return await work(server.connectString);
  } finally {
    await server.stop();
  }
}
