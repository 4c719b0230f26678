import { printTable } from '../support/results.js';
import type { Row } from '../support/results.js';
import { shortNumber } from './number.js';
import { ratio, referenceOf } from './summary.js';
import type { Figure, Line, ShapeSummary } from './summary.js';

/** The columns: a figure, its heading, and whether it is also shown as a multiple of the reference's. */
const COLUMNS: readonly (readonly [figure: Figure, heading: string, isCompared?: 'compared'])[] = [
  ['rate', 'per s', 'compared'],
  ['p50Us', 'p50 us', 'compared'],
  ['p99Us', 'p99 us', 'compared'],
  ['acquireP50Us', 'to get it us', 'compared'],
  ['handOverP50Us', 'hand-over us', 'compared'],
  ['insideP50Us', 'inside us'],
  ['fairness', 'slowest/fastest'],
  ['cpuUs', 'cpu us', 'compared'],
  ['packetsTo', 'to server'],
  ['packetsFrom', 'from it'],
  ['enqueueMs', 'enqueue ms'],
  ['heapBytes', 'heap bytes'],
  ['residentBytes', 'resident bytes'],
];

/** Prints the table of each shape. */
export function printTables(summaries: readonly ShapeSummary[]): void {
  for (const summary of summaries) {
    console.log(`\n${titleOf(summary)}`);
    printTable(tableOf(summary));
  }
}

export function titleOf(summary: ShapeSummary): string {
  const { title, id, reference } = summary.shape;
  return `${title} (${id}; in brackets: times ${referenceOf(summary)?.label ?? reference})`;
}

/** Returns the medians of a shape, with the multiple of the reference's in brackets. */
export function tableOf(summary: ShapeSummary): Row[] {
  return summary.lines.map((line) => rowOf(line, summary, referenceOf(summary)));
}

function rowOf(line: Line, { lines }: ShapeSummary, reference: Line | undefined): Row {
  const row: Record<string, string> = { contender: line.label };
  for (const [figure, heading, isCompared] of COLUMNS) {
    // A figure that no contender has in this shape needs no column.
    if (lines.every(({ figures }) => figures[figure] === undefined)) continue;
    const value = shortNumber(line.figures[figure]);
    row[heading] = isCompared ? `${value} (${shortNumber(ratio(line, reference, figure))})` : value;
  }
  return { ...row, overlaps: line.overlaps, failed: line.failures.length };
}
