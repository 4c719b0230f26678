import { describe, expect, it, beforeAll } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient } from '../support/znodes.js';

describe('parents', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 200 });
    return () => server.stop();
  });

  it('are created when missing, by several contenders at once', async () => {
    const basePath = `${freshBasePath()}/deep/down`;
    const services = await Promise.all(
      [0, 1, 2].map(() => openService({ connectString: server.connectString, basePath })),
    );
    const counts = { inside: 0, most: 0, done: 0 };
    const work = async () => {
      counts.most = Math.max(counts.most, ++counts.inside);
      await new Promise(setImmediate);
      counts.inside--;
      counts.done++;
    };
    await Promise.all(Array.from({ length: 30 }, (_, i) => services[i % 3]?.using('a/b/c', work)));
    expect(counts).toEqual({ inside: 0, most: 1, done: 30 });
  });

  it('are removed by the servers when empty, and the token still grows when they are made again', async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath });
    const client = await openClient(server.connectString);
    const tokens: bigint[] = [];
    for (let round = 0; round < 3; round++) {
      await service.using('a/b', ({ fencingToken }) => void tokens.push(fencingToken));
      const isGone = () =>
        client.children(basePath).then(
          () => undefined,
          () => true,
        );
      await eventually(isGone, `${basePath} removed`);
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('stay when the parents option is persistent', async () => {
    const connectString = server.connectString;
    const [keptPath, removedPath] = [freshBasePath(), freshBasePath()];
    const kept = await openService({ connectString, basePath: keptPath, parents: 'persistent' });
    const removed = await openService({ connectString, basePath: removedPath });
    const client = await openClient(connectString);
    const isThere = (path: string) =>
      client.children(path).then(
        () => true,
        () => false,
      );

    await kept.using('k', () => {});
    await removed.using('k', () => {});
    await eventually(async () => ((await isThere(removedPath)) ? undefined : true), `${removedPath} removed`);

    expect(await isThere(`${keptPath}/k`)).toBe(true);
  });
});
