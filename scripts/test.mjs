// Everything from a fresh clone to a verdict: `npm test`, or `npm test -- --project unit` for a part of the tests; with
// `--long` as its first argument, as in `npm run test:long`, the tests that take long.
// Needs nothing but Node, because it runs before any dependency is there.
import { must, npmScript } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { BROWSER, ETCD, GO, PEERS, PROMETHEUS, providePackages, REDIS } from './support/packages.mjs';
import { needing, projectArgs, projectsOf } from './support/projects.mjs';
import { runTests } from './support/test-run.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';

const NO_ZOOKEEPER = `There is no real ZooKeeper here, and none could be installed. Set ZOOKEEPER_CONNECT=host:port to test on one that
runs, or ZOOKEEPER_HOME to an unpacked one (with java on the PATH), or install Debian's package zookeeper, or start Docker.`;

const isLong = process.argv[2] === '--long';
const args = process.argv.slice(isLong ? 3 : 2);
/** The longest time until the verdict, in minutes. 0: no limit. */
const minutes = Number(process.env.TEST_MINUTES ?? 0);
if (!Number.isInteger(minutes) || minutes < 0 || minutes > 1_440) {
  throw new Error(`TEST_MINUTES must be whole minutes up to 1440, not "${process.env.TEST_MINUTES}"`);
}
const limit = minutes > 0 ? AbortSignal.timeout(60_000 * minutes) : undefined;
const projects = projectsOf(isLong ? 'long' : 'test', args);
let counts = { passed: 0, failed: 1, skipped: 0, failures: /** @type {string[]} */ ([]) };

try {
  await installDependencies();
  await installDependencies('test/nest-11');
  await installDependencies('test/transactions');
  await installDependencies('bench');
  const isReal = await usesReal();
  if (needing('redis', projects).length > 0) await providePackages(REDIS);
  if (needing('etcd', projects).length > 0) await providePackages(process.env.ETCD_BIN ? GO : [...ETCD, ...GO]);
  if (needing('chromium', projects).length > 0) await providePackages(BROWSER);
  if (needing('prometheus', projects).length > 0) await providePackages(PROMETHEUS);
  if (!isLong) {
    await must('typecheck', npmScript('typecheck'));
    await must('lint', npmScript('lint'));
  }
  await must('build', npmScript('build'));
  const left = isReal ? [] : leftOut();
  if (left.length === projects.length) throw new Error(NO_ZOOKEEPER);
  counts = await runTests(
    projectArgs(
      projects.filter((name) => !left.includes(name)),
      args,
    ),
    limit,
  );
  if (left.length > 0) console.log(`\nNOT RUN, FOR WANT OF A REAL ZOOKEEPER: ${left.join(', ')}`);
} catch (error) {
  console.error(`\n${error.message}`);
  counts.failures.push(error.message.split('\n')[0]);
}

for (const failure of counts.failures) console.log(`FAILED ${failure}`);
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.passed === 0) console.error('no test has passed');
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;

/**
 * Whether the tests that need a real ZooKeeper get one. `TEST_ZOOKEEPER` says `real` or `embedded`; without it, the real
 * one where it can be had. CI is where it is found out what a real server does: none to be had is a failure there.
 */
async function usesReal() {
  const wanted = process.env.TEST_ZOOKEEPER ?? (process.env.CI ? 'real' : undefined);
  if (wanted !== undefined && wanted !== 'real' && wanted !== 'embedded') {
    throw new Error(`TEST_ZOOKEEPER must be real or embedded, not ${wanted}`);
  }
  // A server is not installed for a run of other projects only.
  if (needing('zookeeper', projects).length === 0) return true;
  if (wanted === 'embedded') return false;
  const isThere = await provideZooKeeper();
  if (!isThere && wanted === 'real') throw new Error(NO_ZOOKEEPER);
  if (!isThere) console.log(`\n${NO_ZOOKEEPER}`);
  else await providePackages(PEERS);
  return isThere;
}

/** The projects that cannot be run without one. A run of named projects or files has these, on the embedded server. */
function leftOut() {
  console.log('\nRUNS ON THE EMBEDDED SERVER: what needs a real ZooKeeper is not run');
  process.env.TEST_ZOOKEEPER = 'embedded';
  return args.length > 0 ? [] : needing('zookeeper', projects);
}
