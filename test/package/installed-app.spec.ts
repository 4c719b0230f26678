import { describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';

const { tarball } = inject('packed');

const EXPORTS = [
  'assertHeld',
  'currentLease',
  'DistributedLock',
  'LockModule',
  'LockService',
  'LockTimeoutError',
  'ReadLock',
  'WriteLock',
  'zookeeper',
];

interface Report {
  readonly exports: string[];
  readonly testing: string[];
  readonly registersItself: boolean;
}

describe.each([11, 12] as const)('an application on NestJS %i', (nest) => {
  it.each(['esm', 'cjs'])('uses the installed package on plain Node: %s', async (kind) => {
    await using app = await InstalledApp.create(kind, nest, tarball);
    expect(app.versionOf('@nestjs/core')).toMatch(new RegExp(`^${nest}\\.`));
    const report = JSON.parse(await app.run(process.execPath, 'main.js')) as Report;
    expect(report.exports).toEqual(expect.arrayContaining(EXPORTS));
    expect(report.testing).toContain('ZooKeeperServer');
    expect(report.registersItself).toBe(true);
  });
});
