import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** One line of a table: a column's name and what stands there. */
export type Row = Readonly<Record<string, string | number>>;

/** Prints rows under each other, numbers to the right. */
export function printTable(rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
  const widths = columns.map((_, place) => Math.max(...lines.map((line) => line[place]?.length ?? 0)));
  for (const line of lines) console.log(line.map((cell, place) => cell.padStart(widths[place] ?? 0)).join('  '));
}

/** Keeps what was measured, and on what, in `build/bench/<name>.json`. */
export function writeResults(name: string, results: object): void {
  const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
  const file = `build/bench/${name}.json`;
  mkdirSync('build/bench', { recursive: true });
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine, ...results }, null, 2)}\n`);
  console.log(`all figures: ${file}`);
}
