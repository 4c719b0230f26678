import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';
import { NODE_MODULES } from './repository.js';

const { tarball } = inject('packed');

describe.each([11, 12] as const)('a consumer in TypeScript, on NestJS %i', (nest) => {
  let app: InstalledApp;

  beforeAll(async () => {
    app = await InstalledApp.create('types', nest, tarball);
  });

  afterAll(() => app[Symbol.asyncDispose]());

  it.each([
    ['typescript-6', /^Version 6\./],
    ['typescript', /^Version 7\./],
  ] as const)('compiles in strict mode, libraries included, with %s', async (compiler, version) => {
    const tsc = join(NODE_MODULES, compiler, 'bin', 'tsc');
    expect(await app.run(process.execPath, tsc, '--version')).toMatch(version);
    expect(await app.run(process.execPath, tsc, '-p', '.')).toBe('');
  });
});
