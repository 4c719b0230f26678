import 'reflect-metadata';
import { expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { tour } from '../support/tour.js';

it('an operator finds the cause on Redis', { timeout: 180_000 }, async () => {
  const server = await RedisServer.start();
  onTestFinished(() => server.stop());
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const settings = { sessionTimeoutMs: 4_000, restartDelayMs: 0 };
  const backends = [
    redis({ url: `redis://127.0.0.1:${server.port}`, ...settings }),
    redis({ url: `redis://127.0.0.1:${proxy.port}`, ...settings }),
  ] as const;
  const options = ['--backend', 'redis', '--connect', `redis://127.0.0.1:${server.port}`, '--within', '30s'];
  await expect(tour({ backends, proxy, options })).resolves.toBeUndefined();
});
