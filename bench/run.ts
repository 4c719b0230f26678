/** `npm run bench`: measures the cost of these locks and of others, in one run on one machine. */
import { conductAll } from './conduct/conduct-all.js';
import { parseOptions, PARTS, USAGE } from './options.js';
import type { BenchOptions } from './options.js';
import { drawCharts } from './report/charts.js';
import { CLAIMS } from './report/claims.js';
import { machine } from './report/machine.js';
import { writeTables } from './report/markdown.js';
import { writeReport } from './report/results-file.js';
import { summarise } from './report/summary.js';
import type { ShapeSummary } from './report/summary.js';
import { printTables } from './report/tables.js';
import { judge, verdictRow } from './report/verdict.js';
import type { TickStatus } from './report/verdict.js';
import { SHAPES } from './shapes.js';
import { printTable } from './support/results.js';

try {
  const args = process.argv.slice(2);
  if (args.includes('--help')) console.log(USAGE);
  else process.exitCode = await run(parseOptions(args));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function run(options: BenchOptions): Promise<number> {
  const { results, cut } = await conductAll(options);
  const summaries = summarise(SHAPES, results);
  // A run of a fraction of a second says nothing about speed.
  const verdicts = options.isShort ? [] : judge(CLAIMS, summaries);
  printTables(summaries);
  printVerdicts(verdicts);
  const facts = machine();
  const report = { machine: facts, options, summaries, verdicts, results };
  writeReport(options.results, report);
  // The documentation never gets a part of a run.
  const folder = cut.length > 0 ? PARTS : options.charts;
  const charts = drawCharts(folder, summaries, facts, options.rounds);
  console.log(`tables and charts: ${[writeTables(folder, report), ...charts].join(' ')}`);
  if (cut.length > 0) console.error(`not measured in full, the time was over: ${cut.join(' ')}`);
  return isGood(summaries, verdicts, options) && cut.length === 0 ? 0 : 1;
}

function printVerdicts(verdicts: readonly TickStatus[]): void {
  if (verdicts.length === 0) return;
  console.log('\nWhat must be reached');
  printTable(verdicts.map(verdictRow));
}

function isGood(
  summaries: readonly ShapeSummary[],
  verdicts: readonly TickStatus[],
  { isAsserting }: BenchOptions,
): boolean {
  const faults = summaries.flatMap(({ shape, lines }) =>
    lines.flatMap(({ label, overlaps, acquisitions, failures }) => [
      ...(overlaps > 0 ? [`${shape.id}, ${label}: ${overlaps} of ${acquisitions} tenures overlap`] : []),
      ...failures.map((failure) => `${shape.id}, ${label}: ${failure}`),
    ]),
  );
  const missed = isAsserting ? verdicts.filter(({ isTrue }) => !isTrue).length : 0;
  for (const fault of faults) console.error(fault);
  if (missed > 0) console.error(`${missed} of ${verdicts.length} claims are missed`);
  return faults.length === 0 && missed === 0;
}
