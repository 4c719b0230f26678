import { describe, expect, it } from 'vitest';
import { importsOf } from './source-import.js';
import { sourceTree } from './source-tree.js';
import { findViolations } from './violations.js';

/** A small tree that keeps the rules, with one file per layer and every allowed kind of import. */
const LEGAL: Readonly<Record<string, string>> = {
  'index.ts': `export { LockModule } from './lock.module.js';`,
  'lock.module.ts': [
    `import { Module } from '@nestjs/common';`,
    `import { zookeeper } from './zookeeper/zookeeper.backend.js';`,
    `import type { MultiLock } from './composite/multi-lock.js';`,
    `import { hold } from './decorators/hold.js';`,
  ].join('\n'),
  'decorators/hold.ts': `import { defer } from 'rxjs';\nimport { LockService } from '../service/lock.service.js';`,
  'service/lock.service.ts': [
    `import { AsyncLocalStorage } from 'node:async_hooks';`,
    `import { MultiLock } from '../composite/multi-lock.js';`,
  ].join('\n'),
  'composite/multi-lock.ts': `import type { Lease } from '../contract/lease.js';`,
  'contract/lease.ts': `export interface Lease {}`,
  'zookeeper/roots.ts': `export {};`,
  'zookeeper/zookeeper.backend.ts': `import { Mutex } from './recipes/mutex.js';\nimport { Client } from './client/client.js';`,
  'zookeeper/recipes/mutex.ts': `import { Session } from '../session/session.js';`,
  'zookeeper/session/session.ts': `import { Client } from '../client/client.js';`,
  'zookeeper/client/client.ts': `import zk from 'node-zookeeper-client';\nimport { encode } from '../wire/jute.js';`,
  'zookeeper/wire/jute.ts': `// import x from '../client/client.js' is only a comment\nexport const encode = "import '../x.js'";`,
  'memory/memory.backend.ts': `import { now } from '../async/clock.js';`,
  'async/clock.ts': `import { performance } from 'node:perf_hooks';`,
  'testing/index.ts': `import { LockModule } from '../index.js';\nimport { connect } from 'node:net';`,
};

/** One wrong line each: the file for it, the line, and the expected complaint. */
const PLANTED: readonly (readonly [path: string, line: string, complaint: RegExp])[] = [
  ['contract/lease.ts', `import { now } from '../async/clock.js';`, /contract may not import async/],
  ['contract/lease.ts', `import { inspect } from 'node:util';`, /contract may not import node:util/],
  ['async/clock.ts', `import type { Lease } from '../contract/lease.js';`, /async may not import contract/],
  ['async/clock.ts', `import { timer } from 'rxjs';`, /async may not import rxjs/],
  ['composite/multi-lock.ts', `import { Injectable } from '@nestjs/common';`, /composite may not import @nestjs/],
  ['composite/multi-lock.ts', `import '../service/lock.service.js';`, /composite may not import service/],
  ['service/lock.service.ts', `import { of } from 'rxjs';`, /service may not import rxjs/],
  ['service/lock.service.ts', `export * from '../decorators/hold.js';`, /service may not import decorators/],
  [
    'service/lock.service.ts',
    `export type { Backend } from '../zookeeper/zookeeper.backend.js';`,
    /may not import zookeeper/,
  ],
  ['decorators/hold.ts', `import { now } from '../async/clock.js';`, /decorators may not import async/],
  ['decorators/hold.ts', `const m = await import('../memory/memory.backend.js');`, /may not import memory/],
  ['lock.module.ts', `import { MultiLock } from './composite/multi-lock.js';`, /root may import only types of/],
  [
    'lock.module.ts',
    `import { Roots } from './zookeeper/roots.js';`,
    /root may import zookeeper\/zookeeper.backend.ts or/,
  ],
  ['lock.module.ts', `import { Session } from './zookeeper/session/session.js';`, /root may not import zookeeper\/s/],
  ['index.ts', `export { ZooKeeperServer } from './testing/index.js';`, /root may not import testing/],
  ['zookeeper/zookeeper.backend.ts', `import '../memory/memory.backend.js';`, /zookeeper may not import memory/],
  ['zookeeper/zookeeper.backend.ts', `import '../service/lock.service.js';`, /zookeeper may not import service/],
  ['zookeeper/zookeeper.backend.ts', `import './wire/jute.js';`, /zookeeper may not import zookeeper\/wire/],
  ['zookeeper/recipes/mutex.ts', `import '../client/client.js';`, /recipes may not import zookeeper\/client/],
  [
    'zookeeper/recipes/mutex.ts',
    `let c: import('../client/client.js').Client;`,
    /recipes may not import zookeeper\/cli/,
  ],
  ['zookeeper/session/session.ts', `import '../recipes/mutex.js';`, /session may not import zookeeper\/recipes/],
  ['zookeeper/session/session.ts', `import '../wire/jute.js';`, /session may not import zookeeper\/wire/],
  ['zookeeper/client/client.ts', `import '../../contract/lease.js';`, /client may not import contract/],
  ['zookeeper/client/second.ts', `import zk from 'node-zookeeper-client';`, /is imported by .*client.ts already/],
  ['zookeeper/wire/jute.ts', `import '../../async/clock.js';`, /wire may not import async/],
  ['memory/memory.backend.ts', `import '../zookeeper/zookeeper.backend.js';`, /memory may not import zookeeper/],
  ['memory/memory.backend.ts', `import '../testing/index.js';`, /memory may not import testing/],
  ['testing/index.ts', `import '../zookeeper/client/client.js';`, /testing may not import zookeeper\/client/],
  ['testing/index.ts', `import { it } from 'vitest';`, /testing may not import vitest/],
  ['service/other.ts', `import '../../test/support/base-path.js';`, /is no file of lib/],
  ['service/other.ts', `import './lock.service';`, /is no file of lib/],
  [
    'service/other.ts',
    `import { LockModule } from 'nestjs-distributed-lock';`,
    /may not import nestjs-distributed-lock/,
  ],
  ['service/other.ts', `const x = await import(name);`, /may not import \(computed\)/],
  ['service/other.ts', `const x = require('rxjs');`, /service may not import rxjs/],
  ['service/deep/other.ts', `export {};`, /is in no layer/],
  ['stray/other.ts', `export {};`, /is in no layer/],
];

describe('the check of the layers', () => {
  it('accepts a tree that keeps the rules', () => {
    expect(findViolations(sourceTree(Object.entries(LEGAL)))).toEqual([]);
  });

  it.each(PLANTED)('finds in %s: %s', (path, line, complaint) => {
    const planted = { ...LEGAL, [path]: `${LEGAL[path] ?? ''}\n${line}` };
    const violations = findViolations(sourceTree(Object.entries(planted)));
    // An upward import closes a cycle as well.
    const [first, ...others] = violations.filter((violation) => !violation.startsWith('import cycle'));
    expect(first).toMatch(complaint);
    expect(first).toContain(path);
    expect(others).toEqual([]);
  });

  it('finds a cycle inside a layer, also of types', () => {
    const ring = {
      ...LEGAL,
      'service/a.ts': `import type { B } from './b.js';`,
      'service/b.ts': `import { C } from './c.js';`,
      'service/c.ts': `export * from './a.js';`,
    };
    const cycle = 'import cycle: service/a.ts -> service/b.ts -> service/c.ts -> service/a.ts';
    expect(findViolations(sourceTree(Object.entries(ring)))).toEqual([cycle]);
  });

  it('reports the driver outside the client twice: for the wrong layer and as a second file', () => {
    const driver = { ...LEGAL, 'zookeeper/session/session.ts': `import zk from 'node-zookeeper-client';` };
    expect(findViolations(sourceTree(Object.entries(driver)))).toEqual([
      'zookeeper/session/session.ts:1: zookeeper/session may not import node-zookeeper-client',
      expect.stringContaining('node-zookeeper-client is imported by'),
    ]);
  });

  it('finds a file that imports itself', () => {
    const self = { ...LEGAL, 'service/a.ts': `import './a.js';` };
    expect(findViolations(sourceTree(Object.entries(self)))).toEqual(['import cycle: service/a.ts -> service/a.ts']);
  });
});

describe('importsOf', () => {
  it('finds every kind of import, and nothing in comments or strings', () => {
    const text = [
      `import a from 'a'; import type { B } from 'b'; import 'c';`,
      `export * from 'd'; export type { E } from 'e';`,
      `const f = await import('f'); let g: import('g').G; import h = require('h'); const i = require('i');`,
      `// import 'x'`,
      `const y = "import 'y'"; const z = \`\${import('j')} import 'z'\`;`,
    ].join('\n');
    const found = importsOf(text);
    expect(found.map(({ specifier }) => specifier).join('')).toBe('abcdefghij');
    expect(found.filter((one) => one.isTypeOnly).map(({ specifier }) => specifier)).toEqual(['b', 'e', 'g']);
    expect(found[3]).toMatchObject({ specifier: 'd', line: 2 });
  });
});
