/**
 * `npm run path`: prints the counts of one contended call, with their maxima, and the share of each folder. Exits with 1
 * when a count is greater.
 */
import { measureFigures } from './figures.js';

const { figures, folders } = await measureFigures();
for (const { what, count, most } of figures) {
  console.log(`${count <= most ? '✓' : '✗'} ${String(count).padStart(4)}  (at most ${most})  ${what}`);
}
for (const { folder, files, functions } of folders) {
  console.log(`  ${String(functions).padStart(4)} functions in ${String(files).padStart(2)} files of lib/${folder}`);
}
process.exitCode = figures.every(({ count, most }) => count <= most) ? 0 : 1;
