// Compiles the front end of the page of locks: `node scripts/build/page.mjs`, which tests need; `npm run build` copies the result.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { at } from './entries.mjs';

const SOURCE = 'lib/dashboard/page';
const COPIED = /\.(css|svg)$/;

/**
 * Compiles the modules of the page, and puts its other files beside them. A build has a folder of its own: tests may be
 * running from theirs. Returns the folder of the page.
 */
function compilePage(folder) {
  rmSync(at(folder), { recursive: true, force: true });
  const tsc = [at('node_modules/typescript/bin/tsc'), '-p', at(`${SOURCE}/tsconfig.json`), '--outDir', at(folder)];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  for (const name of readdirSync(at(SOURCE)).filter((file) => COPIED.test(file))) {
    cpSync(at(`${SOURCE}/${name}`), at(`${folder}/page/${name}`));
  }
  return at(`${folder}/page`);
}

/** Puts the compiled page beside the code that reads it. */
export function writePage() {
  const compiled = compilePage('build/packed-page');
  const target = at('dist/cjs/code/dashboard/page');
  mkdirSync(target, { recursive: true });
  cpSync(compiled, target, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compilePage('build/page');
