import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../support/results.js';
import type { Report } from './results-file.js';
import { tableOf, titleOf } from './tables.js';
import { verdictRow } from './verdict.js';

/** Writes all tables for the documentation. Returns the file. */
export function writeTables(dir: string, { machine, options, summaries, verdicts }: Report): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const windows = `${options.rounds} ${options.rounds === 1 ? 'round' : 'rounds'} of ${options.windowMs / 1_000} s`;
  const text = [
    '# What `npm run bench` has measured',
    `Medians of ${windows}, in brackets how many times that of the reference, on ${machine.cpus} x ${machine.cpu}` +
      ` with ${machine.memoryGb} GB, Linux ${machine.kernel}: ${versions.join(', ')}.`,
    ...summaries.flatMap((summary) => [`## ${titleOf(summary)}`, markdownTable(tableOf(summary))]),
    ...(verdicts.length > 0 ? ['## What must be reached', markdownTable(verdicts.map(verdictRow))] : []),
  ];
  const file = join(dir, 'tables.md');
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, `${text.join('\n\n')}\n`);
  return file;
}

/** Returns the table in the layout of the repository's formatter. The first column holds words, the others numbers. */
export function markdownTable(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '-')))];
  const widths = columns.map((_, place) => Math.max(3, ...cells.map((line) => line[place]!.length)));
  const lines = cells.map((line) =>
    line.map((cell, place) => (place === 0 ? cell.padEnd(widths[place]!) : cell.padStart(widths[place]!))),
  );
  const rule = widths.map((width, place) => (place === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [lines[0]!, rule, ...lines.slice(1)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
