import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient, untilContenders } from '../../support/znodes.js';
import { lost } from './support/leases.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral, openSession } from './support/open-session.js';
import { serverHas } from './support/outside.js';
import { EPHEMERAL, openPlain, plainly, said } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, when its session has expired', () => {
  it('stays unusable, however often connect() is called', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString);
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const over = () => Promise.all([said(plain, 'expired'), said(plain, 'disconnected')]);
    const expired = over();
    await proxy.expireSessions();
    proxy.disconnect();
    await expired;
    expect(await serverHas(target, path)).toBe(false);
    for (let time = 0; time < 3; time++) {
      const again = over();
      plain.connect();
      await again;
    }
    await new Promise(setImmediate);
    await expect(plainly<Buffer>((done) => plain.getData('/', done))).rejects.toMatchObject({
      name: 'CONNECTION_LOSS',
    });
  });

  it('notifies none of its watchers', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString);
    let events = 0;
    await plainly<Buffer>((done) => plain.getData('/', () => void events++, done));
    const [expired, closed] = [said(plain, 'expired'), said(plain, 'disconnected')];
    await proxy.expireSessions();
    proxy.disconnect();
    await Promise.all([expired, closed]);
    expect(events).toBe(0);
  });
});

describe('a client whose session has expired', () => {
  it('reports the end once, settles pending requests, and refuses new ones', async () => {
    const proxy = await openProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString);
    const ended = next('ended');
    proxy.blackHole('toClient');
    const base = freshBasePath();
    const asked = Array.from({ length: 100 }, (_, index) => createEphemeral(client, `${base}-${index}`));
    asked.push(client.watch('/') as never, client.multi([]) as never, client.sync('/') as never);
    const settled = Promise.allSettled(asked);
    await proxy.expireSessions();
    proxy.disconnect();
    proxy.heal();
    for (const { status, reason } of (await settled) as PromiseRejectedResult[]) {
      expect([status, reason]).toEqual(['rejected', expect.objectContaining({ isConnectionLoss: true })]);
    }

    expect(await ended).toBe('expired');
    expect(told).toEqual(['connected', 'disconnected', 'ended']);
    await expect(client.read('/')).rejects.toMatchObject({ isConnectionLoss: true });
    const before = proxy.accepted;
    client.dropLink();
    await client.close(1_000);
    expect(proxy.accepted).toBe(before);
  });

  it('notices on a connection that was kept', async () => {
    const proxy = await openProxy(target);
    const { client, next } = await connectClient(proxy.connectString);
    const ended = next('ended');
    await proxy.expireSessions();
    await client.read('/').catch(() => {});
    expect(await ended).toBe('expired');
  });
});

describe('a session that has expired', () => {
  it('ends all its waits, and another session begins', async () => {
    const proxy = await openProxy(target);
    const { session, sessions } = await openSession(proxy.connectString);
    const watch = await session.requests.watch('/');
    const waiting = session.persistently(() => new Promise<never>(() => {}), session.signal);
    const refused = expect(waiting).rejects.toMatchObject({ name: 'SessionEndedError', why: 'expired' });
    await proxy.expireSessions();
    proxy.disconnect();
    await refused;
    watch.remove();
    const next = await sessions.session();
    expect(next).not.toBe(session);
    expect(next.id).not.toBe(session.id);
    // The new session may have begun before the link was cut.
    const children = await next.persistently(() => next.requests.children('/'), next.signal);
    expect(children).toContain('zookeeper');
  });
});

describe('a service whose session has expired', () => {
  const open = async () => {
    const basePath = freshBasePath();
    const proxy = await openProxy(target);
    const service = await openService({ connectString: proxy.connectString, basePath, waitMs: 30_000 });
    const expire = async () => {
      await proxy.expireSessions();
      proxy.disconnect();
    };
    return { basePath, proxy, service, expire, path: `${basePath}/k` };
  };

  it('loses its leases and grants new ones, with larger tokens', async () => {
    const { service, expire, path } = await open();
    const lease = await service.acquire('k');
    await expire();
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST', message: expect.stringContaining('expired') });
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
    const next = await service.acquire('k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await lease.release();
    expect(next.isHeld()).toBe(true);
    expect(await contendersAt(await openClient(target), path)).toHaveLength(1);
  });

  it('queues each of its waiters again, once', async () => {
    const { basePath, service, expire, path } = await open();
    const holder = await openService({ connectString: target, basePath });
    const client = await openClient(target);
    const lease = await holder.acquire('k');
    const waiting = Array.from({ length: 5 }, () =>
      service.using('k', async (held) => held.fencingToken, { reentrant: false }),
    );
    const before = await untilContenders(client, path, 6);
    await expire();
    await eventually(async () => {
      const names = await contendersAt(client, path);
      return (names.length === 6 && names.slice(1).every((name) => !before.includes(name))) || undefined;
    }, 'the same number of contenders, all of them new');
    expect((await contendersAt(client, path))[0]).toBe(before[0]);

    await lease.release();

    const tokens = await Promise.all(waiting);
    expect(new Set(tokens).size).toBe(5);
    await untilContenders(client, path, 0);
  });

  it('recovers when that happens repeatedly', async () => {
    const { service, expire, path } = await open();
    let token = 0n;
    for (let round = 0; round < 10; round++) {
      const lease = await service.acquire('k');
      expect(lease.fencingToken).toBeGreaterThan(token);
      token = lease.fencingToken;
      await expire();
      await lost(lease);
    }
    await service.using('k', () => {});
    await untilContenders(await openClient(target), path, 0);
  });

  it('answers a single attempt with an error or with the lock', async () => {
    const { service, expire } = await open();
    await service.using('k', () => {});
    const asking = Promise.allSettled(Array.from({ length: 20 }, (_, index) => service.tryAcquire(`k${index}`)));
    await expire();
    for (const result of await asking) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      else expect(result.value).not.toBeNull();
    }
  });

  it('reports work that ran under a lost lease', async () => {
    const { service, expire } = await open();
    const work = service.using('k', async (lease) => {
      await expire();
      await lost(lease);
    });
    await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST' });
  });
});
