/** The imports that one layer may have, besides its own files. */
export interface Layer {
  /** The folder of its files, below lib/. Its sub-folders are layers of their own. */
  readonly folder: string;
  readonly mayImport: readonly Layered[];
  /** The layers of which it may import types only, so that it calls nothing in them. */
  readonly typesOnly?: readonly Layered[];
  /** The layers of which it may import these files only, their entry points for other layers. */
  readonly doors?: Readonly<Partial<Record<Layered, readonly string[]>>>;
  /** Packages and Node's own modules. `node:*` means all of the latter. */
  readonly packages: readonly string[];
}

export type Layered =
  | 'root'
  | 'decorators'
  | 'transports'
  | 'schedule'
  | 'coordination'
  | 'elections'
  | 'service'
  | 'local'
  | 'stock'
  | 'composite'
  | 'contract'
  | 'zookeeper'
  | 'zookeeper/coordination'
  | 'zookeeper/records'
  | 'zookeeper/election'
  | 'zookeeper/recipes'
  | 'zookeeper/recipes/shortcuts'
  | 'zookeeper/session'
  | 'zookeeper/client'
  | 'zookeeper/wire'
  | 'redis'
  | 'redis/coordination'
  | 'redis/locks'
  | 'redis/session'
  | 'redis/scripts'
  | 'redis/client'
  | 'etcd'
  | 'etcd/coordination'
  | 'etcd/locks'
  | 'etcd/session'
  | 'etcd/client'
  | 'etcd/wire'
  | 'sessions'
  | 'dashboard'
  | 'dashboard/page'
  | 'memory'
  | 'terminus'
  | 'telemetry'
  | 'metrics'
  | 'opentelemetry'
  | 'async'
  | 'command'
  | 'testing'
  | 'testing/faults'
  | 'testing/zookeeper-faults'
  | 'testing/nest'
  | 'testing/backend-contract'
  | 'testing/backend-faults'
  | 'testing/embedded'
  | 'testing/embedded/ensemble'
  | 'testing/embedded/server'
  | 'testing/embedded/requests'
  | 'testing/embedded/database'
  | 'testing/embedded/sessions'
  | 'testing/embedded/watches'
  | 'testing/embedded/tree'
  | 'testing/embedded/wire';

export type Layers = Readonly<Record<Layered, Layer>>;

const NEST = ['@nestjs/common', '@nestjs/core'];

/**
 * Imports point down this table. The framework stops at the service, and recipes never use the client. Backends see
 * neither each other nor the service, and no layer imports testing. A folder that is not here is an error.
 */
export const LAYERS: Layers = {
  root: {
    folder: '',
    mayImport: [
      'decorators',
      'transports',
      'schedule',
      'coordination',
      'elections',
      'service',
      'stock',
      'composite',
      'contract',
      'zookeeper',
    ],
    typesOnly: ['composite', 'stock'],
    doors: { zookeeper: ['zookeeper/zookeeper.backend.ts', 'zookeeper/zookeeper.options.ts'] },
    packages: [...NEST, 'node:worker_threads'],
  },
  decorators: {
    folder: 'decorators',
    mayImport: ['schedule', 'elections', 'service', 'contract'],
    packages: [...NEST, 'reflect-metadata', 'rxjs', 'node:async_hooks', 'node:stream'],
  },
  transports: { folder: 'transports', mayImport: ['contract'], packages: [...NEST, 'rxjs', 'node:http'] },
  schedule: {
    folder: 'schedule',
    mayImport: ['service', 'contract', 'async'],
    packages: [...NEST, 'reflect-metadata', 'rxjs', 'node:async_hooks', 'node:crypto', 'node:os'],
  },
  coordination: { folder: 'coordination', mayImport: ['service', 'composite', 'contract', 'async'], packages: [] },
  elections: { folder: 'elections', mayImport: ['service', 'contract', 'async'], packages: NEST },
  service: {
    folder: 'service',
    mayImport: ['local', 'stock', 'composite', 'contract', 'async'],
    packages: [...NEST, 'node:async_hooks', 'node:crypto', 'node:os'],
  },
  local: { folder: 'local', mayImport: ['contract', 'async'], packages: [] },
  stock: {
    folder: 'stock',
    mayImport: ['composite', 'contract', 'async'],
    packages: ['node:async_hooks', 'node:crypto'],
  },
  composite: { folder: 'composite', mayImport: ['contract', 'async'], packages: [] },
  contract: { folder: 'contract', mayImport: [], packages: ['node:diagnostics_channel'] },
  zookeeper: {
    folder: 'zookeeper',
    // The client is imported only to create one. Every request to the server goes through the session.
    mayImport: [
      'zookeeper/coordination',
      'zookeeper/records',
      'zookeeper/election',
      'zookeeper/recipes',
      'zookeeper/session',
      'zookeeper/client',
      'sessions',
      'contract',
      'async',
    ],
    // TLS material is checked as a connection will use it.
    packages: ['node:crypto', 'node:tls'],
  },
  'zookeeper/coordination': {
    folder: 'zookeeper/coordination',
    mayImport: ['zookeeper/recipes', 'zookeeper/session', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'zookeeper/records': {
    folder: 'zookeeper/records',
    mayImport: ['zookeeper/recipes', 'zookeeper/session', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'zookeeper/election': {
    folder: 'zookeeper/election',
    mayImport: ['zookeeper/recipes', 'zookeeper/session', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'zookeeper/recipes': {
    folder: 'zookeeper/recipes',
    mayImport: ['zookeeper/recipes/shortcuts', 'zookeeper/session', 'contract', 'async'],
    packages: ['node:crypto', 'node:os'],
  },
  'zookeeper/recipes/shortcuts': {
    folder: 'zookeeper/recipes/shortcuts',
    mayImport: ['zookeeper/session', 'async'],
    packages: [],
  },
  'zookeeper/session': {
    folder: 'zookeeper/session',
    mayImport: ['zookeeper/client', 'sessions', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'zookeeper/client': {
    folder: 'zookeeper/client',
    mayImport: ['zookeeper/wire', 'async'],
    packages: ['node-zookeeper-client', 'node:*'],
  },
  'zookeeper/wire': { folder: 'zookeeper/wire', mayImport: [], packages: [] },
  redis: {
    folder: 'redis',
    // The client is imported only to create one. Every request to the server goes through the session.
    mayImport: [
      'redis/coordination',
      'redis/locks',
      'redis/session',
      'redis/scripts',
      'redis/client',
      'sessions',
      'contract',
      'async',
    ],
    packages: ['node:crypto', 'node:tls'],
  },
  'redis/coordination': {
    folder: 'redis/coordination',
    mayImport: ['redis/locks', 'redis/session', 'redis/scripts', 'redis/client', 'sessions', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'redis/locks': {
    folder: 'redis/locks',
    mayImport: ['redis/session', 'redis/scripts', 'redis/client', 'sessions', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'redis/session': {
    folder: 'redis/session',
    mayImport: ['redis/scripts', 'redis/client', 'sessions', 'contract', 'async'],
    packages: ['node:crypto', 'node:os'],
  },
  'redis/scripts': { folder: 'redis/scripts', mayImport: ['redis/client'], packages: [] },
  'redis/client': {
    folder: 'redis/client',
    mayImport: ['contract', 'async'],
    packages: ['ioredis', 'node:crypto', 'node:module', 'node:net', 'node:tls'],
  },
  etcd: {
    folder: 'etcd',
    // The client is imported only to create one. Every request to a server goes through the session.
    mayImport: [
      'etcd/coordination',
      'etcd/locks',
      'etcd/session',
      'etcd/client',
      'etcd/wire',
      'sessions',
      'contract',
      'async',
    ],
    packages: ['node:crypto', 'node:tls'],
  },
  'etcd/coordination': {
    folder: 'etcd/coordination',
    mayImport: ['etcd/locks', 'etcd/session', 'etcd/client', 'etcd/wire', 'sessions', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'etcd/locks': {
    folder: 'etcd/locks',
    mayImport: ['etcd/session', 'etcd/wire', 'sessions', 'contract', 'async'],
    packages: ['node:os'],
  },
  'etcd/session': {
    folder: 'etcd/session',
    mayImport: ['etcd/client', 'etcd/wire', 'sessions', 'contract', 'async'],
    packages: ['node:os'],
  },
  'etcd/client': {
    folder: 'etcd/client',
    mayImport: ['etcd/wire', 'contract', 'async'],
    packages: ['node:http2', 'node:tls'],
  },
  'etcd/wire': { folder: 'etcd/wire', mayImport: [], packages: [] },
  // Shared by the backends with servers.
  sessions: { folder: 'sessions', mayImport: ['contract', 'async'], packages: [] },
  // Nothing imports the page: an application does, by a sub-path of its own.
  dashboard: {
    folder: 'dashboard',
    mayImport: ['root', 'schedule', 'elections', 'service', 'stock', 'contract', 'async'],
    doors: { root: ['discovered.ts'] },
    packages: [...NEST, 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:url'],
  },
  // It runs in a browser: of the server it knows the types of the answers.
  'dashboard/page': { folder: 'dashboard/page', mayImport: ['dashboard'], typesOnly: ['dashboard'], packages: [] },
  memory: { folder: 'memory', mayImport: ['contract', 'async'], packages: ['node:crypto'] },
  // Sub-paths with a peer of their own. What two of them share is in telemetry, which has no peer.
  terminus: { folder: 'terminus', mayImport: ['service', 'contract'], packages: [...NEST, '@nestjs/terminus'] },
  metrics: {
    folder: 'metrics',
    mayImport: ['telemetry', 'service', 'contract'],
    packages: [...NEST, 'prom-client'],
  },
  opentelemetry: {
    folder: 'opentelemetry',
    mayImport: ['telemetry', 'service', 'contract'],
    packages: [...NEST, '@opentelemetry/api'],
  },
  telemetry: { folder: 'telemetry', mayImport: ['service', 'contract', 'async'], packages: NEST },
  async: { folder: 'async', mayImport: [], packages: ['node:*'] },
  command: {
    folder: 'command',
    mayImport: ['service', 'schedule', 'zookeeper', 'redis', 'etcd', 'contract', 'async', 'testing/embedded'],
    doors: {
      zookeeper: ['zookeeper/zookeeper.backend.ts'],
      redis: ['redis/index.ts', 'redis/redis.backend.ts'],
      etcd: ['etcd/index.ts', 'etcd/etcd.backend.ts'],
    },
    packages: [
      '@nestjs/common',
      'node:crypto',
      'node:fs',
      'node:http',
      'node:https',
      'node:net',
      'node:readline',
      'node:tls',
      'node:util',
    ],
  },
  testing: {
    folder: 'testing',
    mayImport: [
      'testing/faults',
      'testing/zookeeper-faults',
      'testing/embedded',
      'testing/nest',
      'testing/backend-contract',
      'testing/backend-faults',
      'root',
      'memory',
      'contract',
      'async',
      'zookeeper/wire',
    ],
    packages: ['node:*'],
  },
  'testing/faults': { folder: 'testing/faults', mayImport: [], packages: ['node:*'] },
  'testing/zookeeper-faults': {
    folder: 'testing/zookeeper-faults',
    mayImport: ['testing/faults', 'zookeeper/wire'],
    packages: ['node:*'],
  },
  'testing/nest': {
    folder: 'testing/nest',
    mayImport: ['root', 'decorators', 'schedule', 'elections', 'service', 'memory', 'contract', 'async'],
    packages: ['@nestjs/common'],
  },
  'testing/backend-contract': {
    folder: 'testing/backend-contract',
    mayImport: ['contract', 'async'],
    packages: ['node:*'],
  },
  'testing/backend-faults': {
    folder: 'testing/backend-faults',
    mayImport: ['testing/backend-contract', 'testing/faults', 'contract', 'async'],
    packages: ['node:*'],
  },
  'testing/embedded': {
    folder: 'testing/embedded',
    mayImport: [
      'testing/embedded/ensemble',
      'testing/embedded/server',
      'testing/embedded/requests',
      'testing/embedded/database',
      'testing/embedded/sessions',
      'testing/embedded/tree',
      'zookeeper/wire',
      'contract',
      'async',
    ],
    packages: [],
  },
  'testing/embedded/ensemble': {
    folder: 'testing/embedded/ensemble',
    mayImport: ['testing/embedded/server', 'testing/embedded/database', 'testing/embedded/sessions'],
    packages: [],
  },
  'testing/embedded/server': {
    folder: 'testing/embedded/server',
    mayImport: [
      'testing/embedded/requests',
      'testing/embedded/database',
      'testing/embedded/sessions',
      'testing/embedded/watches',
      'testing/embedded/tree',
      'testing/embedded/wire',
      'zookeeper/wire',
    ],
    packages: ['node:net'],
  },
  'testing/embedded/requests': {
    folder: 'testing/embedded/requests',
    mayImport: [
      'testing/embedded/database',
      'testing/embedded/sessions',
      'testing/embedded/watches',
      'testing/embedded/tree',
      'testing/embedded/wire',
      'zookeeper/wire',
    ],
    packages: [],
  },
  'testing/embedded/database': {
    folder: 'testing/embedded/database',
    mayImport: ['testing/embedded/sessions', 'testing/embedded/watches', 'testing/embedded/tree'],
    packages: [],
  },
  'testing/embedded/sessions': {
    folder: 'testing/embedded/sessions',
    mayImport: [],
    packages: ['node:crypto', 'node:perf_hooks'],
  },
  'testing/embedded/watches': {
    folder: 'testing/embedded/watches',
    mayImport: ['testing/embedded/tree', 'zookeeper/wire'],
    typesOnly: ['zookeeper/wire'],
    packages: [],
  },
  'testing/embedded/tree': {
    folder: 'testing/embedded/tree',
    mayImport: ['testing/embedded/wire', 'zookeeper/wire'],
    packages: ['node:crypto', 'node:net'],
  },
  'testing/embedded/wire': { folder: 'testing/embedded/wire', mayImport: ['zookeeper/wire'], packages: [] },
};

/** Packages that a single file may import, so that they can be replaced there. */
export const ONE_FILE_PACKAGES: readonly string[] = [
  'node-zookeeper-client',
  'ioredis',
  'node:http2',
  'node:diagnostics_channel',
];

/** With fewer files than this, the test has looked in the wrong place. */
export const FEWEST_FILES = 80;
