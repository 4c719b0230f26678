import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { expect, inject, it } from 'vitest';
import { LockModule, LockService, zookeeper } from '../../lib/index.js';
import { LockHealthIndicator, LockHealthModule } from '../../lib/terminus/index.js';
import { started } from '../nest/app.js';
import { freshBasePath } from '../support/base-path.js';
import { lost } from './driver/support/leases.js';
import { openProxy } from './driver/support/open-proxy.js';

/** An application whose only way to its server is a proxy. */
async function startBehindProxy(sessionTimeoutMs: number) {
  const proxy = await openProxy(inject('zookeeper'));
  const backend = zookeeper({ connectString: proxy.connectString, basePath: freshBasePath(), sessionTimeoutMs });
  const imports = [LockModule.forRoot({ service: 'test', backend, drainTimeoutMs: 0 }), LockHealthModule];
  const app = await started(Test.createTestingModule({ imports }).compile());
  const { locks } = app.get(LockHealthIndicator).isHealthy('locks');
  const health = () => app.get(LockHealthIndicator).isHealthy('locks').locks;
  return { proxy, locks: app.get(LockService), first: locks, health };
}

it('is degraded while the link is down, and up with the same session after it', async () => {
  const { proxy, locks, first, health } = await startBehindProxy(20_000);
  expect(first).toMatchObject({ status: 'up', state: 'connected', backend: 'zookeeper', held: 0 });
  expect(first.sessionTimeoutMs).toBeGreaterThan(0);
  const lease = await locks.acquire('a');
  proxy.refuse();
  proxy.disconnect();
  await expect.poll(() => health()).toMatchObject({ status: 'degraded', state: 'suspended', held: 1 });
  proxy.heal();
  await expect.poll(() => health()).toMatchObject({ status: 'up', state: 'connected', held: 1 });
  expect(lease.isHeld()).toBe(true);
  await lease.release();
});

it('is down once the leases are lost, and up with the next session', async () => {
  const { proxy, locks, health } = await startBehindProxy(1_000);
  const lease = await locks.acquire('a');
  proxy.refuse();
  proxy.disconnect();
  await lost(lease);
  await expect.poll(() => health()).toMatchObject({ status: 'down', state: 'lost', held: 0 });
  expect(locks.state).toBe('lost');
  proxy.heal();
  await expect.poll(() => health()).toMatchObject({ status: 'up', state: 'connected' });
});
