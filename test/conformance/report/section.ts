import { readFileSync, writeFileSync } from 'node:fs';
import { RESULTS } from '../places.js';

/** Puts a result where the results are told, between its two marks. */
export function writeSection(name: string, text: string): void {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
  const whole = readFileSync(RESULTS, 'utf8');
  const [from, to] = [whole.indexOf(begin), whole.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${RESULTS} has no place for "${name}"`);
  writeFileSync(RESULTS, `${whole.slice(0, from + begin.length)}\n${text}\n\n${whole.slice(to)}`);
}
