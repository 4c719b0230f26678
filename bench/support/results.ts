import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** One line of a table: the cells by the names of their columns. */
export type Row = Readonly<Record<string, string | number>>;

/** Prints rows as a table, with numbers aligned to the right. */
export function printTable(rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
  const widths = columns.map((_, place) => Math.max(...lines.map((line) => line[place]?.length ?? 0)));
  for (const line of lines) console.log(line.map((cell, place) => cell.padStart(widths[place] ?? 0)).join('  '));
}

/** Writes the results and the machine to `build/bench/<name>.json`. */
export function writeResults(name: string, results: object): void {
  const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
  const file = `build/bench/${name}.json`;
  mkdirSync('build/bench', { recursive: true });
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine, ...results }, null, 2)}\n`);
  console.log(`all figures: ${file}`);
}
