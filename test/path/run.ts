/** `npm run path`: what one contended call passes in the library, with what it may pass. Ends with 1 where it is more. */
import { measureFigures } from './figures.js';

const figures = await measureFigures();
for (const { what, count, most } of figures) {
  console.log(`${count <= most ? '✓' : '✗'} ${String(count).padStart(4)}  (at most ${most})  ${what}`);
}
process.exitCode = figures.every(({ count, most }) => count <= most) ? 0 : 1;
