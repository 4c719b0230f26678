/**
 * Measures what each shortcut gives: the rate with all of them, divided by the rate without the one. Near is the
 * loopback, far a link of one millisecond each way. The library has no switches: they are made in a copy of it.
 * `npm run bench:shortcuts -- [--rounds 3] [--seconds 1] [--only '4x16 strict']`
 * Ends with 1 when a lock was held twice.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FaultProxy } from '../lib/testing/index.js';
import { edited } from '../test/support/edit.js';
import { SHORTCUT_SWITCHES, SHORTCUTS, WITHOUT } from '../test/support/shortcuts.js';
import { measureLoop } from './conduct/measure-loop.js';
import { WorkerProcess } from './crew/worker-process.js';
import { startZooKeeper } from './servers/zookeeper.js';
import { LOOP } from './shapes.js';
import type { LoopShape } from './shapes.js';
import { median } from './support/statistics.js';
import { printTable, writeResults } from './support/results.js';

const FAR_MS = 1;
const BREAK_IN = 3;

/** A shape, and whether the callers of a process share a contender. */
interface Measure extends LoopShape {
  readonly localLine: boolean;
}

const ALL_MEASURES: readonly Measure[] = [
  { ...LOOP, id: '1x1', title: 'one caller', localLine: true },
  { ...LOOP, id: '64 keys', title: '64 callers, a key each', callers: 64, keys: 'own', localLine: true },
  { ...LOOP, id: '4x1', title: '4 processes, a caller each', processes: 4, localLine: true },
  { ...LOOP, id: '16x1', title: '16 processes, a caller each', processes: 16, localLine: true },
  { ...LOOP, id: '4x16', title: '4 processes, 16 callers each', processes: 4, callers: 16, localLine: true },
  { ...LOOP, id: '4x16 strict', title: 'the same in strict order', processes: 4, callers: 16, localLine: false },
  {
    ...LOOP,
    id: '4x16 reads',
    title: 'the same, 95 % reads',
    processes: 4,
    callers: 16,
    readShare: 0.95,
    localLine: true,
  },
];
const ALL = 'all';
const NONE = 'none of them';
const VARIANTS = [ALL, ...SHORTCUTS, NONE] as const;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: ALL_MEASURES.map(({ id }) => id) },
  },
});
const MEASURES = ALL_MEASURES.filter(({ id }) => values.only.includes(id));
const [rounds, windowMs] = [Number(values.rounds), Number(values.seconds) * 1_000];

interface Result {
  readonly where: string;
  readonly measure: string;
  readonly variant: string;
  readonly rate: number;
  readonly cpuUs: number;
  readonly overlaps: number;
}

const program = writeSwitched();
const server = await startZooKeeper();
const proxy = await FaultProxy.open(server.address);
proxy.delay(FAR_MS);
const results: Result[] = [];
try {
  // The server's own code is cold at first.
  await measureVariant(ALL);
  results.length = 0;
  for (let round = 0; round < rounds; round++) {
    for (const variant of inAnotherOrder(round)) {
      await measureVariant(variant);
      console.log(`round ${round + 1} of ${rounds}: without ${variant === ALL ? 'nothing' : variant}`);
    }
  }
} finally {
  await proxy.close();
  await server.stop();
}
for (const where of ['near', 'far']) {
  console.log(`\n${where}: the rate with all, divided by the rate without`);
  printTable(SHORTCUTS.concat(NONE as never).map((variant) => rowOf(where, variant)));
}
writeResults('shortcuts', { options: { ...values, farMs: FAR_MS }, results });
const overlapping = results.filter(({ overlaps }) => overlaps > 0);
for (const { where, measure, variant } of overlapping)
  console.error(`held twice: ${measure}, ${where}, without ${variant}`);
process.exitCode = overlapping.length === 0 ? 0 : 1;

/** A machine that gets faster or slower within a round must not favour the same variants each time. */
function inAnotherOrder(round: number): readonly string[] {
  const first = (round * 3) % VARIANTS.length;
  return [...VARIANTS.slice(first), ...VARIANTS.slice(0, first)];
}

/** New processes for each variant: what one has switched off stays off. */
async function measureVariant(variant: string): Promise<void> {
  const without = variant === NONE ? SHORTCUTS.join() : variant;
  const most = Math.max(...MEASURES.map(({ processes }) => processes));
  const env = { [WITHOUT]: variant === ALL ? '' : without };
  const workers = Array.from({ length: most }, () => {
    return new WorkerProcess({ argv: [process.execPath, '--expose-gc', program], env });
  });
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    for (const [where, address] of [
      ['near', server.address],
      ['far', proxy.connectString],
    ] as const) {
      for (const measure of MEASURES) {
        const { localLine, processes, readShare } = measure;
        const some = workers.slice(0, processes);
        const options = { localLine, isReadWrite: readShare > 0 };
        await Promise.all(some.map((worker) => worker.ask({ do: 'open', contender: 'ours', address, options })));
        const isFirst = where === 'near' && measure === MEASURES[0];
        const warmUpMs = isFirst ? BREAK_IN * windowMs : windowMs;
        const idlePackets = async () => ({ received: 0, sent: 0 });
        const stage = { workers: some, server, dir, warmUpMs, windowMs, isLocalLine: localLine, idlePackets };
        const { figures, overlaps } = await measureLoop(measure, stage);
        await Promise.all(some.map((worker) => worker.ask({ do: 'close' })));
        const { rate = 0, cpuUs = 0 } = figures;
        results.push({ where, measure: measure.id, variant, rate, cpuUs, overlaps });
      }
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
    rmSync(dir, { recursive: true, force: true });
  }
}

function rowOf(where: string, variant: string): Record<string, string> {
  const of = (measure: string, name: string, what: 'rate' | 'cpuUs') =>
    median(
      results
        .filter((one) => one.where === where && one.measure === measure && one.variant === name)
        .map((one) => one[what]),
    );
  const cells = MEASURES.map(({ id }) => {
    const gain = of(id, ALL, 'rate') / of(id, variant, 'rate');
    const cpu = of(id, ALL, 'cpuUs') / of(id, variant, 'cpuUs');
    return [id, `${gain.toFixed(2)} (cpu ${cpu.toFixed(2)})`];
  });
  return { without: variant, ...Object.fromEntries(cells) };
}

/** Copies what is compiled, with switches for the shortcuts in it. Returns the path of the worker's program. */
function writeSwitched(): string {
  const compiled = fileURLToPath(new URL('../', import.meta.url));
  const switched = join(compiled, '..', 'switched');
  rmSync(switched, { recursive: true, force: true });
  cpSync(compiled, switched, { recursive: true, verbatimSymlinks: true });
  for (const edit of SHORTCUT_SWITCHES) {
    const file = join(switched, 'lib', edit.file);
    writeFileSync(file, edited(readFileSync(file, 'utf8'), edit));
  }
  return join(switched, 'bench', 'contenders', 'node', 'worker.js');
}
