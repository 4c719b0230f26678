// Makes dist/, which is what is published: `npm run build`. docs/adr/0004-one-code-two-doors.md says why it has this form.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { writeCode } from './build/code.mjs';
import { writeDeclarations } from './build/declarations.mjs';
import { at } from './build/entries.mjs';
import { writePage } from './build/page.mjs';

// A file that has left lib/ must leave dist/ too, or it would still be published.
for (const folder of ['build/package', 'dist']) rmSync(at(folder), { recursive: true, force: true });
compile();
await writeCode();
await writeDeclarations();
writePage();

/** Says nothing where nothing is wrong: `npm pack --json` prints JSON after it. */
function compile() {
  const tsc = [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
