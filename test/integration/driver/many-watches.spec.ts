import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openClient } from '../../support/znodes.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { OPEN_ACL } from './support/open-session.js';
import { openPlain, plainly } from './support/plain-client.js';

const target = inject('zookeeper');
const WATCHES = 20_000;
const AT_ONCE = 1_000;
const SESSION_MS = 10_000;

/** Together, the paths are longer than a request may be. */
const base = freshBasePath();
const paths = Array.from({ length: WATCHES }, (_, index) => `${base}/${randomUUID()}-${index}`);

const batches = Array.from({ length: WATCHES / AT_ONCE }, (_, index) =>
  paths.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
);

beforeAll(async () => {
  const { client } = await connectClient(target, { sessionTimeoutMs: SESSION_MS, isClosedByCaller: true });
  const node = { data: Buffer.alloc(0), acl: OPEN_ACL };
  await client.create({ ...node, path: base, mode: 0 });
  for (const batch of batches) {
    await client.multi(batch.map((path) => ({ ...node, type: 'create', path, flags: 0 })));
  }
  await client.close(1_000);
});

describe('the plain driver with 20,000 watches', () => {
  it('reconnects forever, because its request exceeds the server’s limit', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString, { sessionTimeout: SESSION_MS });
    for (const batch of batches) {
      await Promise.all(batch.map((path) => plainly<Buffer>((done) => plain.getData(path, () => {}, done))));
    }
    expect(proxy.accepted).toBe(1);

    proxy.disconnect();

    await eventually(() => proxy.accepted > 20 || undefined, 'one connection after the other');
  });
});

describe('a connection with 20,000 watches', () => {
  it('is re-established once, with every watch', async () => {
    const proxy = await openProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString, { sessionTimeoutMs: SESSION_MS });
    const watches = new Map<string, Promise<string>>();
    for (const batch of batches) {
      for (const { path, watch } of await Promise.all(
        batch.map(async (path) => ({ path, watch: await client.watch(path) })),
      )) {
        watches.set(path, watch.fired);
      }
    }
    const again = next('connected');

    proxy.disconnect();
    await again;
    await client.sync(base);
    const chosen = paths.filter((_, index) => index % 997 === 0 || index === WATCHES - 1);
    const outside = await openClient(target);
    await outside.multi(chosen.map((path) => ({ type: 'delete', path })));

    const events = await Promise.all(chosen.map((path) => watches.get(path)));
    expect(events).toEqual(chosen.map(() => 'deleted'));
    expect([told, proxy.accepted]).toEqual([['connected', 'disconnected', 'connected'], 2]);
  });

  it('gets the events of the time without a connection', async () => {
    const proxy = await openProxy(target);
    const { client, next } = await connectClient(proxy.connectString, { sessionTimeoutMs: SESSION_MS });
    const [one, other] = [paths[1]!, paths[2]!];
    const watches = [await client.watch(one), await client.watch(other)];
    const [down, again] = [next('disconnected'), next('connected')];
    proxy.refuse();
    proxy.disconnect();
    await down;
    await (await openClient(target)).delete(one);
    proxy.heal();
    await again;
    await (await openClient(target)).delete(other);
    expect(await Promise.all(watches.map(({ fired }) => fired))).toEqual(['deleted', 'deleted']);
  });
});
