/** `npm run path`: prints the counts of one contended call, with their maxima. Exits with 1 when a count is greater. */
import { measureFigures } from './figures.js';

const figures = await measureFigures();
for (const { what, count, most } of figures) {
  console.log(`${count <= most ? '✓' : '✗'} ${String(count).padStart(4)}  (at most ${most})  ${what}`);
}
process.exitCode = figures.every(({ count, most }) => count <= most) ? 0 : 1;
