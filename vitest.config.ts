import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { nest11 } from './test/nest-11/resolve-nest-11.js';

const lib = (file: string) => fileURLToPath(new URL(`./lib/${file}`, import.meta.url));

/** Which folders a project runs; test/architecture checks that no spec file is left out. */
export const PROJECTS = {
  unit: ['test/unit', 'test/examples/unit'],
  nest: ['test/nest'],
  'nest-11': ['test/nest'],
  architecture: ['test/architecture'],
  package: ['test/package'],
  integration: ['test/integration', 'test/multi-process', 'test/testing', 'test/bench', 'test/examples/integration'],
  // Once more, on the embedded server: what is about locks, and not about one server's own process.
  embedded: [
    'test/integration/access.spec.ts',
    'test/integration/contract.spec.ts',
    'test/integration/expiry.spec.ts',
    'test/integration/granted-timeout.spec.ts',
    'test/integration/lost-replies.spec.ts',
    'test/integration/mutex.spec.ts',
    'test/integration/read-write-lock.spec.ts',
    'test/integration/records.spec.ts',
    'test/integration/segments.spec.ts',
    'test/integration/services.spec.ts',
    'test/integration/single-node.spec.ts',
    'test/integration/stock.spec.ts',
    'test/integration/succession.spec.ts',
    'test/multi-process/counter.spec.ts',
    'test/multi-process/holder.spec.ts',
    'test/testing/fault-proxy.spec.ts',
    'test/examples/integration',
  ],
  interop: ['test/interop', 'test/endurance'],
  robustness: ['test/robustness'],
  conformance: ['test/conformance'],
} as const;

const specsOf = (project: keyof typeof PROJECTS) =>
  PROJECTS[project].map((place) => (place.endsWith('.ts') ? place : `${place}/**/*.spec.ts`));

/** One project; `groupOrder` makes the heavy ones start when the quick ones are done. */
const project = (name: keyof typeof PROJECTS, groupOrder = 0) => ({
  name,
  include: specsOf(name),
  sequence: { groupOrder },
});

export default defineConfig({
  // Decorators need the flags here: otherwise they come from whichever tsconfig happens to include the file.
  oxc: { target: 'node20', decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: {
    alias: [
      // Sources, not dist: a test never runs against a build that is older than what it looks at.
      { find: /^nestjs-distributed-lock$/, replacement: lib('index.ts') },
      { find: /^nestjs-distributed-lock\/testing$/, replacement: lib('testing/index.ts') },
    ],
  },
  test: {
    pool: 'forks',
    // Shared CI machines stall for seconds; a test that needs a tight limit sets its own.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: project('unit') },
      { extends: true, test: { ...project('nest'), env: { NEST_MAJOR: '12' } } },
      { extends: true, plugins: [nest11()], test: { ...project('nest-11'), env: { NEST_MAJOR: '11' } } },
      { extends: true, test: project('architecture') },
      {
        extends: true,
        test: { ...project('package', 1), maxWorkers: 2, testTimeout: 300_000, globalSetup: ['test/package/pack.ts'] },
      },
      {
        extends: true,
        test: {
          ...project('integration', 2),
          maxWorkers: 2,
          globalSetup: ['test/support/zookeeper.ts', 'test/multi-process/compile-workers.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...project('embedded', 3),
          maxWorkers: 2,
          globalSetup: ['test/support/embedded-zookeeper.ts', 'test/multi-process/compile-workers.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...project('interop', 4),
          maxWorkers: 1,
          globalSetup: [
            'test/support/zookeeper.ts',
            'test/interop/support/compile-java.ts',
            'test/interop/support/compile-programs.ts',
          ],
        },
      },
      {
        extends: true,
        test: { ...project('robustness', 5), maxWorkers: 1, globalSetup: ['test/robustness/compile.ts'] },
      },
      {
        extends: true,
        test: { ...project('conformance', 6), maxWorkers: 2, globalSetup: ['test/conformance/compile.ts'] },
      },
    ],
  },
});
