// Everything from a fresh clone to a verdict: `npm test`, or `npm test -- --project unit` for a part of the tests.
// Needs nothing but Node, because it runs before any dependency is there.
import { must, npmScript } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { runTests } from './support/test-run.mjs';
import { PEERS, providePackages } from './support/packages.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';

const NO_ZOOKEEPER = `There is no real ZooKeeper here, and none could be installed. Set ZOOKEEPER_CONNECT=host:port to test on one that
runs, or ZOOKEEPER_HOME to an unpacked one (with java on the PATH), or install Debian's package zookeeper, or start Docker.`;

const NOT_RUN = 'NOT RUN, FOR WANT OF A REAL ZOOKEEPER: the projects integration, interop, robustness and conformance';

const args = process.argv.slice(2);
// What needs nothing but Node.
const WITHOUT_ZOOKEEPER = ['unit', 'nest', 'nest-11', 'architecture', 'package', 'embedded'];
let counts = { passed: 0, failed: 1, skipped: 0 };

try {
  await installDependencies();
  await installDependencies('test/nest-11');
  await installDependencies('bench');
  const isReal = await usesReal();
  await must('typecheck', npmScript('typecheck'));
  await must('lint', npmScript('lint'));
  await must('build', npmScript('build'));
  counts = await runTests(isReal ? args : onEmbedded(args));
  if (!isReal) console.log(`\n${NOT_RUN}`);
} catch (error) {
  console.error(`\n${error.message}`);
}

if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.passed === 0) console.error('no test has passed');
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;

/** A server is not installed for somebody who asked for other projects only. */
function needsZooKeeper(args) {
  const joined = args.join(' ');
  return !/--project\b/.test(joined) || /--project[= ](integration|interop|robustness|conformance)\b/.test(joined);
}

/**
 * Whether the tests that need a real ZooKeeper get one. `TEST_ZOOKEEPER` says `real` or `embedded`; without it, the real
 * one where it can be had. CI is where it is found out what a real server does: none to be had is a failure there.
 */
async function usesReal() {
  const wanted = process.env.TEST_ZOOKEEPER ?? (process.env.CI ? 'real' : undefined);
  if (wanted !== undefined && wanted !== 'real' && wanted !== 'embedded') {
    throw new Error(`TEST_ZOOKEEPER must be real or embedded, not ${wanted}`);
  }
  if (!needsZooKeeper(args)) return true;
  if (wanted === 'embedded') return false;
  const isThere = await provideZooKeeper();
  if (!isThere && wanted === 'real') throw new Error(NO_ZOOKEEPER);
  if (!isThere) console.log(`\n${NO_ZOOKEEPER}`);
  else await providePackages(PEERS);
  return isThere;
}

/** What can be run without one. Whoever named projects or files means these, on the embedded server. */
function onEmbedded(args) {
  console.log('\nRUNS ON THE EMBEDDED SERVER: what needs a real ZooKeeper is not run');
  process.env.TEST_ZOOKEEPER = 'embedded';
  return args.length > 0 ? args : WITHOUT_ZOOKEEPER.flatMap((name) => ['--project', name]);
}
