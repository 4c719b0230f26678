// From a fresh clone to a comparison of locks: `npm run bench -- <its options>`, see docs/performance.md. With `segments`
// as its first argument: what segments are worth, see docs/segments.md.
import { compileBench, compileJava } from './support/bench.mjs';
import { run } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { PEERS, providePackages, ZOOKEEPER } from './support/packages.mjs';

const args = process.argv.slice(2);
const isOfSegments = args[0] === 'segments';

try {
  await installDependencies();
  await installDependencies('bench');
  await providePackages(isOfSegments ? ZOOKEEPER : [...ZOOKEEPER, ...PEERS]);
  await compileBench();
  if (!isOfSegments) await compileJava();
  const program = `build/bench/js/bench/${isOfSegments ? 'segments' : 'run'}.js`;
  process.exitCode = await run('bench', [process.execPath, program, ...args.slice(isOfSegments ? 1 : 0)]);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
