// Builds the package and the sample application on top of it, and runs that: `npm run sample -- <its arguments>`.
import { must, npmScript, ROOT, run } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { ETCD, providePackages, REDIS } from './support/packages.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';
import { fileURLToPath } from 'node:url';

const args = process.argv.slice(2);
const TSC = fileURLToPath(new URL('node_modules/typescript/bin/tsc', ROOT));

try {
  await installDependencies();
  // Installed on demand only: the embedded server needs nothing but Node.
  if (wantsReal(args) && !(await provideZooKeeper())) throw new Error('no Apache ZooKeeper is here: see --help');
  if (wants('redis', args) && !process.env.REDIS_URL) await providePackages(REDIS);
  if (wants('etcd', args) && !process.env.ETCD_HOSTS && !process.env.ETCD_BIN) await providePackages(ETCD);
  // A signal to this process alone would leave the instances of the shop behind.
  const inOwnGroup = true;
  await must('build', npmScript('build'), { inOwnGroup });
  await must('build the sample', [process.execPath, TSC, '-p', 'sample-app/tsconfig.json'], { inOwnGroup });
  process.exitCode = await run('sample', [process.execPath, 'sample-app/dist/run.js', ...args], { inOwnGroup });
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

function wants(backend, args) {
  return new RegExp(`--backend[= ]${backend}\\b`).test(args.join(' '));
}

function wantsReal(args) {
  return /--zookeeper[= ]real\b/.test(args.join(' '));
}
