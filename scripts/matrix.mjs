// Builds the set-ups of docs/set-ups.md from nothing, with the packed tarball: `npm run matrix`, `npm run matrix -- pnpm`
// for those whose names contain a word, `npm run matrix -- --list` for the names. Needs npm's registry.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from './matrix/pack.mjs';
import { SET_UPS } from './matrix/set-ups.mjs';

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = SET_UPS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

if (process.argv.includes('--list')) {
  for (const { name, title } of SET_UPS) console.log(`${name.padEnd(28)} ${title}`);
} else if (chosen.length === 0) {
  console.error(`no set-up is called ${words.join(', ')}: see npm run matrix -- --list`);
  process.exitCode = 1;
} else {
  await runAll();
}

async function runAll() {
  // Away from the repository, whose node_modules would be found from below it.
  const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
  const context = { folder, tarball: await pack(folder) };
  const results = [];
  for (const setUp of chosen) results.push(await outcomeOf(setUp, context));
  console.log('\n| set-up | what | result |\n| --- | --- | --- |');
  for (const { name, title, result } of results) console.log(`| ${name} | ${title} | ${result} |`);
  if (results.every(({ result }) => result === 'pass')) return rmSync(folder, { recursive: true });
  console.error(`\nwhat failed is in ${folder}`);
  process.exitCode = 1;
}

async function outcomeOf(setUp, context) {
  const startedAt = performance.now();
  console.log(`${setUp.name}: ${setUp.title} ...`);
  const error = await setUp.run(context).then(
    () => undefined,
    (reason) => reason,
  );
  const result = error === undefined ? 'pass' : 'FAIL';
  console.log(`${setUp.name}: ${result} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  if (error === undefined) rmSync(join(context.folder, setUp.name), { recursive: true, force: true });
  else console.error(error.message);
  return { ...setUp, result };
}
