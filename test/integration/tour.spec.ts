import 'reflect-metadata';
import { inject, it, expect, onTestFinished } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { FaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { tour } from '../support/tour.js';

it('an operator finds the cause on ZooKeeper', { timeout: 180_000 }, async () => {
  const [connectString, basePath] = [inject('zookeeper'), freshBasePath()];
  const proxy = await FaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const backends = [
    zookeeper({ connectString, basePath }),
    zookeeper({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 4_000 }),
  ] as const;
  const options = ['--connect', connectString, '--base-path', basePath, '--within', '30s'];
  await expect(tour({ backends, proxy, options })).resolves.toBeUndefined();
});
