// Compiles the front end of the page of locks: `node scripts/build/page.mjs`, which tests need; `npm run build` copies the result.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { at } from './entries.mjs';

const SOURCE = 'lib/dashboard/page';
const COMPILED = 'build/page/page';
const COPIED = /\.(css|svg)$/;

/** Compiles the modules of the page, and puts its other files beside them. */
export function compilePage() {
  rmSync(at('build/page'), { recursive: true, force: true });
  const tsc = [at('node_modules/typescript/bin/tsc'), '-p', at(`${SOURCE}/tsconfig.json`)];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  for (const name of readdirSync(at(SOURCE)).filter((file) => COPIED.test(file))) {
    cpSync(at(`${SOURCE}/${name}`), at(`${COMPILED}/${name}`));
  }
}

/** Puts the compiled page beside the code that reads it. */
export function writePage() {
  compilePage();
  const target = at('dist/cjs/code/dashboard/page');
  mkdirSync(target, { recursive: true });
  cpSync(at(COMPILED), target, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compilePage();
