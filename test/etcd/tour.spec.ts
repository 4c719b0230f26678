import 'reflect-metadata';
import { expect, it, onTestFinished } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { tour } from '../support/tour.js';

it('an operator finds the cause on etcd', { timeout: 180_000 }, async () => {
  const server = await EtcdServer.start();
  onTestFinished(() => server.stop());
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const backends = [
    etcd({ hosts: server.host }),
    etcd({ hosts: proxy.connectString, sessionTimeoutMs: 4_000 }),
  ] as const;
  const options = ['--backend', 'etcd', '--connect', server.host, '--within', '30s'];
  await expect(tour({ backends, proxy, options })).resolves.toBeUndefined();
});
