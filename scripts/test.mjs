// Everything from a fresh clone to a verdict: `npm test`, or `npm test -- --project unit` for a part of the tests.
// Needs nothing but Node, because it runs before any dependency is there.
import { must, npmScript } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { runTests } from './support/test-run.mjs';
import { PEERS, providePackages } from './support/packages.mjs';
import { provideZooKeeper } from './support/zookeeper.mjs';

const args = process.argv.slice(2);
let counts = { passed: 0, failed: 1, skipped: 0 };

try {
  await installDependencies();
  await installDependencies('test/nest-11');
  await installDependencies('bench');
  if (needsServers(args)) {
    await provideZooKeeper();
    await providePackages(PEERS);
  }
  await must('typecheck', npmScript('typecheck'));
  await must('lint', npmScript('lint'));
  await must('build', npmScript('build'));
  counts = await runTests(args);
} catch (error) {
  console.error(`\n${error.message}`);
}

if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.passed === 0) console.error('no test has passed');
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;

/** A server is not installed for somebody who asked for other projects only. */
function needsServers(args) {
  const joined = args.join(' ');
  return !/--project\b/.test(joined) || /--project[= ](integration|interop|robustness)\b/.test(joined);
}
