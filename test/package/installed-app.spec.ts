import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { InstalledApp } from './installed-app.js';
import { NEST_HOMES, NODE_MODULES } from './repository.js';

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

/** The sub-paths that import their peer when they are loaded. */
const SUB_PATHS = [
  ['terminus', '@nestjs/terminus', ['LockHealthIndicator', 'LockHealthModule']],
  ['opentelemetry', '@opentelemetry/api', ['LockOtelMetricsModule', 'LockTracingModule']],
  // Its peer brings that of opentelemetry along.
  ['metrics', 'prom-client', ['LockMetricsModule']],
] as const;

const WHOLE: unknown = {
  exports: expect.arrayContaining(EXPORTS),
  testing: expect.arrayContaining(['ZooKeeperServer']),
  registersItself: true,
};

describe.each([11, 12] as const)('an application on NestJS %i', (nest) => {
  it('uses the installed package on plain Node, as an ES module', async () => {
    await using app = await InstalledApp.create('esm', nest, tarball);
    expect(app.versionOf('@nestjs/core')).toMatch(new RegExp(`^${nest}\\.`));
    expect(JSON.parse(await app.run(process.execPath, 'main.js'))).toEqual(WHOLE);
  });

  describe('in CommonJS', () => {
    let app: InstalledApp;
    const report = async (...args: string[]): Promise<unknown> => JSON.parse(await app.run(process.execPath, ...args));

    beforeAll(async () => {
      app = await InstalledApp.create('cjs', nest, tarball);
    });

    afterAll(() => app[Symbol.asyncDispose]());

    it('uses the installed package on plain Node', async () => {
      expect(await report('main.js')).toEqual(WHOLE);
    });

    it.each(['required imported byCondition', 'imported required', 'byCondition imported', 'byCondition required'])(
      'has one class of each name in memory: %s',
      async (ways) => {
        expect(await report('one-class.js', ...ways.split(' '))).toEqual({ same: true, testing: true });
      },
    );

    it.each(['import', 'require'])('loads neither test code nor a sub-path with the main entry, by %s', async (way) => {
      const loaded = (await report('loaded.js', way)) as string[];
      expect(loaded).toContain('cjs/code/locks.js');
      expect(
        loaded.filter((file) => /testing|embedded|command|redis|etcd|terminus|metrics|telemetry|dashboard/.test(file)),
      ).toEqual([]);
    });

    it.each(['import', 'require'])('is told what to install for Redis, and has it then, by %s', async (way) => {
      await using redisApp = await InstalledApp.create('cjs', nest, tarball);
      const ask = async () => JSON.parse(await redisApp.run(process.execPath, 'redis.js', way)) as unknown;
      const message = expect.stringContaining('npm install ioredis') as unknown;
      expect(await ask()).toEqual({ before: 0, isOurs: true, message });
      await redisApp.add('ioredis');
      expect(await ask()).toEqual({ before: 0, name: 'redis' });
    });

    it.each(['import', 'require'])('needs no other package for etcd, by %s', async (way) => {
      expect(await report('etcd.js', way)).toEqual({ name: 'etcd' });
    });

    it('is told which peer a sub-path lacks, has the main entry all the same, and the sub-path with the peer', async () => {
      await using other = await InstalledApp.create('cjs', nest, tarball);
      const ask = async (way: string, name: string) =>
        JSON.parse(await other.run(process.execPath, 'sub-path.js', way, name)) as unknown;
      for (const [name, peer, exports] of SUB_PATHS) {
        const message = expect.stringContaining(`'${peer}'`) as unknown;
        expect(await ask('import', name)).toEqual({ root: 'function', code: 'ERR_MODULE_NOT_FOUND', message });
        expect(await ask('require', name)).toEqual({ root: 'function', code: 'MODULE_NOT_FOUND', message });
        await other.add(peer, peer.startsWith('@nestjs/') ? NEST_HOMES[nest] : NODE_MODULES);
        for (const way of ['import', 'require']) expect(await ask(way, name)).toEqual({ root: 'function', exports });
      }
    });

    // NestJS 12 is published as ES modules itself.
    if (nest === 12) return;
    it('locks where no ES module can be required, as in Jest', async () => {
      expect(await report('--no-experimental-require-module', 'by-condition.js')).toEqual({ refused: true });
    });
  });
});
