/** What one layer may import, besides itself. */
export interface Layer {
  /** Where its files are, below lib/; its sub-folders are layers of their own. */
  readonly folder: string;
  readonly mayImport: readonly Layered[];
  /** Of these layers no more than types: nothing of them is called from here. */
  readonly typesOnly?: readonly Layered[];
  /** Of these layers no more than these files, the doors that they have for others. */
  readonly doors?: Readonly<Partial<Record<Layered, readonly string[]>>>;
  /** Packages and Node's own modules; `node:*` is all of the latter. */
  readonly packages: readonly string[];
}

export type Layered =
  | 'root'
  | 'decorators'
  | 'schedule'
  | 'elections'
  | 'service'
  | 'local'
  | 'stock'
  | 'composite'
  | 'contract'
  | 'zookeeper'
  | 'zookeeper/recipes'
  | 'zookeeper/session'
  | 'zookeeper/client'
  | 'zookeeper/wire'
  | 'memory'
  | 'async'
  | 'testing'
  | 'testing/faults';

export type Layers = Readonly<Record<Layered, Layer>>;

const NEST = ['@nestjs/common', '@nestjs/core'];

/**
 * Imports point down this table. The framework stops at the service, recipes never touch the client, backends see
 * neither each other nor the service, and nobody imports testing. A folder that is not here is an error.
 */
export const LAYERS: Layers = {
  root: {
    folder: '',
    mayImport: ['decorators', 'schedule', 'elections', 'service', 'stock', 'composite', 'contract', 'zookeeper'],
    typesOnly: ['composite', 'stock'],
    doors: { zookeeper: ['zookeeper/zookeeper.backend.ts', 'zookeeper/zookeeper.options.ts'] },
    packages: NEST,
  },
  decorators: {
    folder: 'decorators',
    mayImport: ['schedule', 'elections', 'service', 'contract'],
    packages: [...NEST, 'reflect-metadata', 'rxjs', 'node:async_hooks'],
  },
  schedule: {
    folder: 'schedule',
    mayImport: ['service', 'contract', 'async'],
    packages: [...NEST, 'reflect-metadata', 'rxjs', 'node:async_hooks', 'node:crypto', 'node:os'],
  },
  elections: { folder: 'elections', mayImport: ['service', 'contract', 'async'], packages: NEST },
  service: {
    folder: 'service',
    mayImport: ['local', 'stock', 'composite', 'contract', 'async'],
    packages: [...NEST, 'node:async_hooks'],
  },
  local: { folder: 'local', mayImport: ['contract', 'async'], packages: [] },
  stock: {
    folder: 'stock',
    mayImport: ['composite', 'contract', 'async'],
    packages: ['node:async_hooks', 'node:crypto'],
  },
  composite: { folder: 'composite', mayImport: ['contract', 'async'], packages: [] },
  contract: { folder: 'contract', mayImport: [], packages: [] },
  zookeeper: {
    folder: 'zookeeper',
    // The client only to make one: whatever is asked of the server goes through the session.
    mayImport: ['zookeeper/recipes', 'zookeeper/session', 'zookeeper/client', 'contract', 'async'],
    packages: [],
  },
  'zookeeper/recipes': {
    folder: 'zookeeper/recipes',
    mayImport: ['zookeeper/session', 'contract', 'async'],
    packages: ['node:crypto', 'node:os'],
  },
  'zookeeper/session': {
    folder: 'zookeeper/session',
    mayImport: ['zookeeper/client', 'contract', 'async'],
    packages: ['node:crypto'],
  },
  'zookeeper/client': {
    folder: 'zookeeper/client',
    mayImport: ['zookeeper/wire', 'async'],
    packages: ['node-zookeeper-client', 'node:*'],
  },
  'zookeeper/wire': { folder: 'zookeeper/wire', mayImport: [], packages: [] },
  memory: { folder: 'memory', mayImport: ['contract', 'async'], packages: [] },
  async: { folder: 'async', mayImport: [], packages: ['node:*'] },
  testing: {
    folder: 'testing',
    mayImport: ['testing/faults', 'root', 'memory', 'contract', 'async', 'zookeeper/wire'],
    packages: ['node:*'],
  },
  'testing/faults': { folder: 'testing/faults', mayImport: ['zookeeper/wire'], packages: ['node:*'] },
};

/** Packages that one single file may name, so that they can be replaced there. */
export const ONE_FILE_PACKAGES: readonly string[] = ['node-zookeeper-client'];

/** Fewer files than this and the test has looked in the wrong place. */
export const FEWEST_FILES = 80;
