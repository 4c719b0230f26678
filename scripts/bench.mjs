// From a fresh clone to a comparison of locks: `npm run bench -- <its options>`, see docs/performance.md. With `segments`
// as its first argument: what segments are worth, see docs/segments.md. With `stock`: how fast a stock sells, see docs/stock.md.
// With `embedded`: how fast the embedded server is. With `shortcuts`: what each shortcut gives, see docs/performance.md. With
// `events`: what events cost, see docs/observability.md. With `page`: what an open page costs, see docs/dashboard.md.
import { compileBench, compileJava } from './support/bench.mjs';
import { run } from './support/command.mjs';
import { installDependencies } from './support/dependencies.mjs';
import { PEERS, providePackages, ZOOKEEPER } from './support/packages.mjs';

const args = process.argv.slice(2);
// Programs of their own, which need no peers.
const own = ['segments', 'stock', 'embedded', 'shortcuts', 'events', 'page'].find((name) => name === args[0]);

try {
  await installDependencies();
  await installDependencies('bench');
  await providePackages(own ? ZOOKEEPER : [...ZOOKEEPER, ...PEERS]);
  await compileBench();
  if (!own) await compileJava();
  const program = `build/bench/js/bench/${own ?? 'run'}.js`;
  process.exitCode = await run('bench', [process.execPath, program, ...args.slice(own ? 1 : 0)]);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
