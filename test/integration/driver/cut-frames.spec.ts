import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { untilState } from './support/leases.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createPersistent } from './support/open-session.js';

const target = inject('zookeeper');
const BYTES = 2_000;
// Inside the length, the header and the data.
const CUTS = [2, 20, 1_000];

async function aZnode(): Promise<string> {
  const path = freshBasePath();
  await createPersistent(await openClient(target), path, Buffer.alloc(BYTES, 1));
  return path;
}

describe('a connection that is cut in the middle of a reply', () => {
  it.each(CUTS)('is re-established with the same session: %s bytes', async (bytes) => {
    const path = await aZnode();
    const proxy = await openProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString);
    const before = await client.create({ path: `${path}/own`, data: Buffer.alloc(0), acl: ANYONE, mode: 1 });
    const again = next('connected');

    proxy.cutAfter(bytes);
    await expect(client.read(path)).rejects.toMatchObject({ isConnectionLoss: true });
    await again;

    expect((await client.read(path)).data).toHaveLength(BYTES);
    expect((await client.read(before.path)).stat.czxid).toBe(before.czxid);
    expect([told, proxy.accepted]).toEqual([['connected', 'disconnected', 'connected'], 2]);
  });

  it.each(CUTS)('keeps its lease and its place in the wait queue: %s bytes', async (bytes) => {
    const basePath = freshBasePath();
    const proxy = await openProxy(target);
    const [service, outside] = [
      await openService({ connectString: proxy.connectString, basePath }),
      await openClient(target),
    ];
    const lease = await service.acquire('k');
    const waiting = service.acquire('k', { reentrant: false });
    await eventually(async () => (await contendersAt(outside, `${basePath}/k`)).length === 2 || undefined, 'a waiter');
    const before = await contendersAt(outside, `${basePath}/k`);

    proxy.cutAfter(bytes);
    await eventually(async () => {
      await service.using('another', () => {});
      return proxy.accepted === 2 || undefined;
    }, 'another connection');
    await untilState(lease, 'held');

    expect(await contendersAt(await openClient(target), `${basePath}/k`)).toEqual(before);
    await lease.release();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('is re-established wherever the cut falls, in the handshake as well', async () => {
    const path = await aZnode();
    const proxy = await openProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString);
    for (const bytes of [0, 1, 3, 4, 5, 8, 19, 21, 40]) {
      const again = next('connected');
      proxy.disconnect();
      proxy.cutAfter(bytes);
      await again;
    }
    const found = await eventually(() => client.read(path).catch(() => undefined), 'an answer');
    expect(found.data).toHaveLength(BYTES);
    expect(told).not.toContain('ended');
  });
});

const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
