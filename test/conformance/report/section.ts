import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { RESULTS } from '../places.js';

/** Writes a result into the document with the results, between its two markers. */
export async function writeSection(name: string, text: string): Promise<void> {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const whole = readFileSync(RESULTS, 'utf8');
  const [from, to] = [whole.indexOf(begin), whole.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${RESULTS} has no place for "${name}"`);
  const written = `${whole.slice(0, from + begin.length)}\n\n${text}\n\n${whole.slice(to)}`;
  writeFileSync(RESULTS, await format(written, { ...(await resolveConfig(RESULTS)), parser: 'markdown' }));
}
