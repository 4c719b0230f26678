// Takes the pictures of the page of locks that docs/dashboard.md shows: `npm run screenshots`. With a folder as its argument, the
// pictures of all views go there. Needs Chromium, which it installs on Debian.
import { fileURLToPath } from 'node:url';
import { must, ROOT } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { BROWSER, providePackages } from './support/packages.mjs';

const TSC = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));

try {
  await installDependencies();
  await providePackages(BROWSER);
  await must('compile the page', [process.execPath, 'scripts/build/page.mjs']);
  await must('compile the scene', [process.execPath, TSC, '-p', 'test/dashboard/tsconfig.json']);
  const program = 'build/dashboard/js/test/dashboard/screenshots.js';
  await must('take the pictures', [process.execPath, program, ...process.argv.slice(2)]);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
