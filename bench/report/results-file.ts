import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Result } from '../conduct/result.js';
import type { BenchOptions } from '../options.js';
import type { Machine } from './machine.js';
import type { ShapeSummary } from './summary.js';
import type { TickStatus } from './verdict.js';

export interface Report {
  readonly machine: Machine;
  readonly options: BenchOptions;
  readonly summaries: readonly ShapeSummary[];
  readonly verdicts: readonly TickStatus[];
  readonly results: readonly Result[];
}

/** Writes all measured results, round by round, together with the machine. */
export function writeReport(file: string, report: Report): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ at: new Date(), ...report }, null, 2)}\n`);
  console.log(`all figures: ${file}`);
}
