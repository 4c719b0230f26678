// Everything from a fresh clone to a verdict: `npm test`, or `npm test -- --project unit` for a part of the tests.
// Needs nothing but Node, because it runs before any dependency is there.
import { must, npmScript } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { runTests } from './support/test-run.mjs';
import { PEERS, providePackages } from './support/packages.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';

const NO_ZOOKEEPER = `There is no real ZooKeeper here, and none could be installed. Set ZOOKEEPER_CONNECT=host:port to test on one that
runs, or ZOOKEEPER_HOME to an unpacked one (with java on the PATH), or install Debian's package zookeeper, or start Docker.`;

const args = process.argv.slice(2);
// What needs nothing but Node.
const WITHOUT_ZOOKEEPER = ['unit', 'nest', 'nest-11', 'architecture', 'package', 'embedded'];
let counts = { passed: 0, failed: 1, skipped: 0 };

try {
  await installDependencies();
  await installDependencies('test/nest-11');
  await installDependencies('bench');
  const hasZooKeeper = !needsZooKeeper(args) || (await provideZooKeeper());
  if (needsZooKeeper(args)) await providePackages(PEERS);
  await must('typecheck', npmScript('typecheck'));
  await must('lint', npmScript('lint'));
  await must('build', npmScript('build'));
  if (hasZooKeeper) counts = await runTests(args);
  else counts = await runWithoutZooKeeper();
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
  return !/--project\b/.test(joined) || /--project[= ](integration|robustness)\b/.test(joined);
}

/** CI is where it is found out what a real server does: there, no server is a failure. */
async function runWithoutZooKeeper() {
  if (args.length > 0 || process.env.CI) throw new Error(NO_ZOOKEEPER);
  console.log(
    `\n${NO_ZOOKEEPER}\n\nRUNS ON THE EMBEDDED SERVER INSTEAD, AND WITHOUT THE PROJECTS integration AND robustness`,
  );
  const counts = await runTests(WITHOUT_ZOOKEEPER.flatMap((name) => ['--project', name]));
  console.log('\nNOT RUN, FOR WANT OF A REAL ZOOKEEPER: the projects integration and robustness');
  return counts;
}
