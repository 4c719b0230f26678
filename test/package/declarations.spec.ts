import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';
import { NODE_MODULES } from './repository.js';

const { tarball } = inject('packed');

const TYPESCRIPT_6 = 'typescript-6';
const TYPESCRIPT_7 = 'typescript';

/** How applications have TypeScript find what they import, and which major versions of NestJS it can find so. */
const RESOLUTIONS = {
  nodenext: { flags: ['--module', 'nodenext'], majors: [11, 12], compilers: [TYPESCRIPT_6, TYPESCRIPT_7] },
  node16: { flags: ['--module', 'node16'], majors: [11], compilers: [TYPESCRIPT_6, TYPESCRIPT_7] },
  bundler: {
    flags: ['--module', 'esnext', '--moduleResolution', 'bundler'],
    majors: [11, 12],
    compilers: [TYPESCRIPT_6, TYPESCRIPT_7],
  },
  // TypeScript 7 has given it up, and so has NestJS 12.
  commonjs: {
    flags: ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'],
    majors: [11],
    compilers: [TYPESCRIPT_6],
  },
} as const;

const CASES = Object.entries(RESOLUTIONS).flatMap(([resolution, { flags, majors, compilers }]) =>
  majors.flatMap((nest) => compilers.map((compiler) => ({ resolution, nest, compiler, flags }))),
);

describe.each(['module', 'commonjs'])('a consumer in TypeScript, of "type": "%s"', (type) => {
  const apps = new Map<number, InstalledApp>();

  beforeAll(async () => {
    for (const nest of [11, 12] as const) apps.set(nest, await typesApp(nest, type));
  });

  afterAll(() => Promise.all([...apps.values()].map((app) => app[Symbol.asyncDispose]())));

  it.each(CASES)('compiles in strict mode: $resolution, NestJS $nest, $compiler', async (one) => {
    const tsc = join(NODE_MODULES, one.compiler, 'bin', 'tsc');
    // Libraries are checked as well, except where NestJS itself would not pass.
    const skip = ['--skipLibCheck', String(one.resolution === 'commonjs')];
    expect(await apps.get(one.nest)!.run(process.execPath, tsc, '-p', '.', ...one.flags, ...skip)).toBe('');
  });
});

it('compares two major versions of TypeScript', () => {
  const majors = [TYPESCRIPT_6, TYPESCRIPT_7].map((name) => {
    const manifest = readFileSync(join(NODE_MODULES, name, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version.split('.')[0];
  });
  expect(majors).toEqual(['6', '7']);
});

async function typesApp(nest: 11 | 12, type: string): Promise<InstalledApp> {
  const app = await InstalledApp.create('types', nest, tarball);
  const manifest = join(app.dir, 'package.json');
  writeFileSync(manifest, JSON.stringify({ ...(JSON.parse(readFileSync(manifest, 'utf8')) as object), type }));
  return app;
}
