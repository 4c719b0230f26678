import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';
import { NODE_MODULES } from './repository.js';

const { tarball } = inject('packed');

const TYPESCRIPT_6 = 'typescript-6';
const TYPESCRIPT_7 = 'typescript';

interface Case {
  readonly resolution: string;
  readonly type: 'module' | 'commonjs';
  readonly nest: 11 | 12;
  readonly compiler: string;
  readonly flags: readonly string[];
}

const NODENEXT = ['--module', 'nodenext'];
const NODE16 = ['--module', 'node16'];
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler'];
// Not available in TypeScript 7. Libraries are not checked, because NestJS itself does not pass there.
const NODE10 = [
  '--module',
  'commonjs',
  '--moduleResolution',
  'node10',
  '--ignoreDeprecations',
  '6.0',
  '--skipLibCheck',
];

/** The ways in which applications let TypeScript resolve imports. NestJS 12 cannot be resolved by the older ones. */
const CASES: readonly Case[] = [
  { type: 'module', nest: 12, compiler: TYPESCRIPT_6, resolution: 'nodenext', flags: NODENEXT },
  { type: 'module', nest: 12, compiler: TYPESCRIPT_7, resolution: 'nodenext', flags: NODENEXT },
  { type: 'module', nest: 12, compiler: TYPESCRIPT_7, resolution: 'bundler', flags: BUNDLER },
  { type: 'module', nest: 11, compiler: TYPESCRIPT_7, resolution: 'node16', flags: NODE16 },
  { type: 'commonjs', nest: 12, compiler: TYPESCRIPT_7, resolution: 'nodenext', flags: NODENEXT },
  { type: 'commonjs', nest: 11, compiler: TYPESCRIPT_7, resolution: 'nodenext', flags: NODENEXT },
  { type: 'commonjs', nest: 11, compiler: TYPESCRIPT_7, resolution: 'node16', flags: NODE16 },
  { type: 'commonjs', nest: 11, compiler: TYPESCRIPT_6, resolution: 'node10', flags: NODE10 },
];

describe('a consumer in TypeScript', () => {
  const apps = new Map<number, InstalledApp>();

  beforeAll(async () => {
    for (const nest of [11, 12] as const) apps.set(nest, await InstalledApp.create('types', nest, tarball));
  });

  afterAll(() => Promise.all([...apps.values()].map((app) => app[Symbol.asyncDispose]())));

  it.each(CASES)('compiles in strict mode: $type, NestJS $nest, $compiler, $resolution', async (one) => {
    const app = apps.get(one.nest)!;
    app.setType(one.type);
    expect(await app.run(process.execPath, compilerOf(one.compiler), '-p', '.', ...one.flags)).toBe('');
  });

  it.each([
    [TYPESCRIPT_6, /^Version 6\./],
    [TYPESCRIPT_7, /^Version 7\./],
  ])('has the version of %s that it is named after', async (compiler, version) => {
    expect(await apps.get(12)!.run(process.execPath, compilerOf(compiler), '--version')).toMatch(version);
  });
});

const compilerOf = (name: string) => join(NODE_MODULES, name, 'bin', 'tsc');
