import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { must, npm, ROOT } from './command.mjs';

/** Installs what a folder's lock file names, unless it is there already. */
export async function installDependencies(folder = '.') {
  const cwd = new URL(`${folder}/`, ROOT);
  if (isInstalled(cwd)) return console.log(`\n> dependencies of ${folder}: up to date`);
  const flags = ['--include=dev', '--no-audit', '--no-fund'];
  await must(`npm ci in ${folder}`, npm('ci', ...flags), { cwd: fileURLToPath(cwd) });
}

/** Whether node_modules holds every package of the lock file, as npm noted when it installed them. */
function isInstalled(cwd) {
  const noted = new URL('node_modules/.package-lock.json', cwd);
  if (!existsSync(noted)) return false;
  const installed = packagesOf(noted);
  const wanted = Object.entries(packagesOf(new URL('package-lock.json', cwd))).filter(([path]) => path !== '');
  return wanted.every(([path, wants]) => {
    const has = installed[path];
    // Optional packages are those of other platforms.
    if (!has) return wants.optional === true;
    return has.version === wants.version && existsSync(new URL(`${path}/package.json`, cwd));
  });
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}
