/**
 * Breaks the embedded server in one way after the other, and checks that the recorded scenarios show it: `npm run
 * conformance:mutants -- [name …] [--write]`.
 */
import { parseArgs } from 'node:util';
import { defectNamed, DEFECTS } from './defects/defects.js';
import { findDefect } from './defects/find-defect.js';
import { defectsTable } from './report/defects-table.js';
import { writeSection } from './report/section.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  // Writes the result into docs/CONFORMANCE.md.
  options: { write: { type: 'boolean', default: false } },
});
const found = new Map<string, string>();
const defects = positionals.length === 0 ? DEFECTS : positionals.map(defectNamed);
for (const defect of defects) {
  const shown = await findDefect(defect);
  if (shown) found.set(defect.name, shown.scenario);
  console.log(shown ? `found: ${defect.name}, by ${defect.group}: ${shown.scenario}` : `NOT FOUND: ${defect.name}`);
  if (shown && positionals.length > 0) console.log(shown.difference);
}
console.log(`${found.size} of ${defects.length} found`);
process.exitCode = found.size === defects.length ? 0 : 1;
if (values.write) await writeSection('defects', defectsTable(defects, found));
