import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { ALONE } from './test/alone.js';
import { nest11 } from './test/nest-11/resolve-nest-11.js';
import projects from './test/projects.json' with { type: 'json' };

type Name = keyof typeof projects;

const lib = (file: string) => fileURLToPath(new URL(`./lib/${file}`, import.meta.url));

/** Most tests wait: for a server, for a process, for a session to end. */
const WORKERS = Math.min(8, 3 * availableParallelism());

const LONG = '.long.spec.ts';

/** Their files share processes: `test/alone.ts` says which do not. */
const SHARED: readonly string[] = ['unit', 'nest', 'nest-11', 'redis', 'etcd'] satisfies Name[];

const isIn = (file: string, place: string) => file.startsWith(`${place}/`);

/** `npm test` leaves out what is named `*.long.spec.ts`, which `npm run test:long` runs. */
const specsOf = ({ run, places, ...kind }: (typeof projects)[Name]) =>
  'alone' in kind
    ? { include: ALONE.filter((file) => places.some((place) => isIn(file, place))) }
    : {
        include: places.map((place) =>
          place.endsWith('.ts') ? place : `${place}/**/*${run === 'long' ? LONG : '.spec.ts'}`,
        ),
        exclude: [...ALONE, ...(run === 'test' ? [`**/*${LONG}`] : [])],
      };

const ZOOKEEPER = 'test/support/zookeeper.ts';
const EMBEDDED = 'test/support/embedded-zookeeper.ts';
const WORKER_PROCESSES = 'test/multi-process/compile-workers.ts';
const FOREIGN_PROGRAMS = ['test/interop/support/compile-java.ts', 'test/interop/support/compile-programs.ts'];

const NEST_12 = { env: { NEST_MAJOR: '12' } };
const NEST_11 = { env: { NEST_MAJOR: '11' }, globalSetup: ['test/nest-11/installed.ts'] };

/** A promise that something happens in time is judged there: nothing else runs beside it. */
const BY_ITSELF = { sequence: { groupOrder: 1 }, maxWorkers: 1 };

const SETTINGS: Partial<Record<Name, TestProjectInlineConfiguration['test']>> = {
  nest: NEST_12,
  'nest-alone': NEST_12,
  'nest-11': NEST_11,
  'nest-11-alone': NEST_11,
  package: { testTimeout: 300_000, globalSetup: ['test/package/pack.ts'] },
  integration: { globalSetup: [ZOOKEEPER, WORKER_PROCESSES] },
  'integration-long': { globalSetup: [ZOOKEEPER, WORKER_PROCESSES] },
  embedded: { globalSetup: [EMBEDDED, WORKER_PROCESSES] },
  interop: { globalSetup: [ZOOKEEPER, ...FOREIGN_PROGRAMS] },
  'interop-long': { globalSetup: [ZOOKEEPER, ...FOREIGN_PROGRAMS] },
  robustness: { globalSetup: ['test/robustness/compile.ts'] },
  // Computing, not waiting: a busy machine takes as many times longer.
  simulation: { globalSetup: ['test/simulation/compile.ts'], testTimeout: 300_000 },
  'in-time': { globalSetup: [ZOOKEEPER, WORKER_PROCESSES], ...BY_ITSELF },
  'in-time-embedded': { globalSetup: [EMBEDDED], ...BY_ITSELF },
  'robustness-long': { globalSetup: ['test/robustness/compile.ts'], ...BY_ITSELF },
  dashboard: { globalSetup: ['test/dashboard/compile-page.ts'] },
  sample: { globalSetup: ['test/sample/compile-sample.ts'] },
  // The traced code starts servers and processes of its own: a busy machine took more than a minute.
  path: { globalSetup: ['test/path/compile.ts'], testTimeout: 300_000 },
  conformance: { globalSetup: ['test/conformance/compile.ts'] },
  'conformance-long': { globalSetup: ['test/conformance/compile.ts'] },
};

const PLUGINS: Partial<Record<Name, TestProjectInlineConfiguration['plugins']>> = {
  'nest-11': [nest11()],
  'nest-11-alone': [nest11()],
};

const projectOf = (name: Name): TestProjectInlineConfiguration => ({
  extends: true,
  plugins: PLUGINS[name] ?? [],
  test: { name, isolate: !SHARED.includes(name), ...specsOf(projects[name]), ...SETTINGS[name] },
});

export default defineConfig({
  // Decorators need the flags here: otherwise they come from whichever tsconfig happens to include the file.
  oxc: { target: 'node20', decorator: { legacy: true, emitDecoratorMetadata: true } },
  resolve: {
    alias: [
      // Sources, not dist: a test never runs against a build that is older than what it looks at.
      { find: /^nestjs-distributed-lock$/, replacement: lib('index.ts') },
      { find: /^nestjs-distributed-lock\/redis$/, replacement: lib('redis/index.ts') },
      { find: /^nestjs-distributed-lock\/etcd$/, replacement: lib('etcd/index.ts') },
      ...['terminus', 'metrics', 'opentelemetry', 'dashboard'].map((name) => ({
        find: new RegExp(`^nestjs-distributed-lock/${name}$`),
        replacement: lib(`${name}/index.ts`),
      })),
      { find: /^nestjs-distributed-lock\/testing$/, replacement: lib('testing/index.ts') },
    ],
  },
  test: {
    pool: 'forks',
    maxWorkers: WORKERS,
    // Shared CI machines stall for seconds; a test that needs a tight limit sets its own.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: (Object.keys(projects) as Name[]).map(projectOf),
  },
});
