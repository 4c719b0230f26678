import { once } from 'node:events';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

describe('a session that the servers expire', () => {
  it('ends its leases; the next session grants them with larger tokens', async () => {
    const basePath = freshBasePath();
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const service = await openService({ connectString: proxy.connectString, basePath });
    const lease = await service.acquire('report');

    await proxy.expireSessions();
    if (!lease.signal.aborted) await once(lease.signal, 'abort');

    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', key: 'report' });
    const next = await service.acquire('report');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('sends its waiters to the end of the wait queue, within their time', async () => {
    const basePath = freshBasePath();
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const [holder, later] = await Promise.all([0, 1].map(() => openService({ connectString, basePath })));
    const unlucky = await openService({ connectString: proxy.connectString, basePath });
    const client = await openClient(connectString);
    const order: string[] = [];
    const lease = await holder?.acquire('k');
    const first = unlucky.using('k', () => void order.push('was second'));
    await untilContenders(client, `${basePath}/k`, 2);
    const second = later?.using('k', () => void order.push('was third'));
    const before = await untilContenders(client, `${basePath}/k`, 3);

    await proxy.expireSessions();
    const after = await untilContenders(client, `${basePath}/k`, 3);
    expect(after).not.toContain(before[1]);
    await lease?.release();
    await Promise.all([first, second]);

    expect(order).toEqual(['was third', 'was second']);
  });
});
