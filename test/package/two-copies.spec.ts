import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';

const { tarball } = inject('packed');

describe.each([11, 12] as const)('two copies of the package, on NestJS %i', (nest) => {
  let app: InstalledApp;

  beforeAll(async () => {
    app = await InstalledApp.create('cjs', nest, tarball);
  });

  afterAll(() => app[Symbol.asyncDispose]());

  it.each([
    ['injected by Nest', 'default', 'injected'],
    ['injected by Nest, from a named connection', 'stock', 'injected'],
    ['made by a factory', 'default', 'made'],
    ['made by a factory, for a named connection', 'stock', 'made'],
  ])('are reported, with their paths and the fix, for a class %s', async (_, connection, way) => {
    const said = await app.run(process.execPath, 'two-copies.js', connection, way);
    expect(said).toContain('@DistributedLock on Orders.place');
    expect(said).toContain(`connection "${connection}"`);
    expect(said).toContain('2 copies of nestjs-distributed-lock are loaded');
    expect(said).toContain(join('a-library', 'node_modules', 'nestjs-distributed-lock', 'dist'));
    expect(said).toContain(join(app.dir, 'node_modules', 'nestjs-distributed-lock', 'dist'));
    expect(said).toContain('npm ls nestjs-distributed-lock');
  });
});
