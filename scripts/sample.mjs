// Builds the package and the sample application on top of it, and runs that: `npm run sample -- <its arguments>`.
import { must, npmScript, ROOT, run } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';
import { fileURLToPath } from 'node:url';

const TSC = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));

try {
  await installDependencies();
  await provideZooKeeper();
  await must('build', npmScript('build'));
  await must('build the sample', [process.execPath, TSC, '-p', 'sample-app/tsconfig.json']);
  process.exitCode = await run('sample', [process.execPath, 'sample-app/dist/run.js', ...process.argv.slice(2)]);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
