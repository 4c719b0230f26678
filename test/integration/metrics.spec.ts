import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { expect, inject, it } from 'vitest';
import { LockModule, LockService, zookeeper } from '../../lib/index.js';
import { LockMetricsModule } from '../../lib/metrics/index.js';
import { started } from '../nest/app.js';
import { freshBasePath } from '../support/base-path.js';
import { lost } from './driver/support/leases.js';
import { openProxy } from './driver/support/open-proxy.js';

it('the metrics of a session follow an outage, an expiry and the next session', async () => {
  const proxy = await openProxy(inject('zookeeper'));
  const registry = new Registry();
  const backend = zookeeper({
    connectString: proxy.connectString,
    basePath: freshBasePath(),
    sessionTimeoutMs: 20_000,
  });
  const imports = [
    LockModule.forRoot({ service: 'test', backend, drainTimeoutMs: 0 }),
    LockMetricsModule.forRoot({ registry }),
  ];
  const app = await started(Test.createTestingModule({ imports }).compile());
  const locks = app.get(LockService);
  const value = async (series: string): Promise<number | undefined> => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`distributed_lock_${series} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const of = '{connection="default"}';
  const stateOf = (state: string) => value(`session_state{connection="default",state="${state}"}`);

  expect(await stateOf('connected')).toBe(1);
  const timeoutSeconds = (await value(`session_timeout_seconds${of}`)) as number;
  expect(timeoutSeconds).toBeGreaterThan(0);
  expect(await value(`lease_margin_seconds${of}`)).toBeUndefined();

  const lease = await locks.acquire('a', { label: 'Orders.place' });
  const margin = (await value(`lease_margin_seconds${of}`)) as number;
  expect(margin).toBeGreaterThan(0);
  expect(margin).toBeLessThanOrEqual(timeoutSeconds);

  proxy.refuse();
  proxy.disconnect();
  await expect.poll(() => stateOf('suspended')).toBe(1);
  await expect.poll(() => value(`session_suspended_seconds_total${of}`)).toBeGreaterThan(0);
  proxy.heal();
  await expect.poll(() => stateOf('connected')).toBe(1);
  expect(await value(`session_losses_total${of}`)).toBe(0);
  expect(lease.isHeld()).toBe(true);

  await proxy.expireSessions();
  await lost(lease);
  await expect.poll(() => value(`session_losses_total${of}`)).toBe(1);
  const reason = '{connection="default",lock="Orders.place",mode="exclusive",reason="lost"}';
  expect(await value(`leases_lost_total${reason}`)).toBe(1);
  expect(await value('held{connection="default",lock="Orders.place",mode="exclusive"}')).toBe(0);
  await expect.poll(() => stateOf('connected')).toBe(1);
});
