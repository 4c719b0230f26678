import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EtcdLink } from '../../lib/etcd/client/etcd-link.js';
import { Heartbeat } from '../../lib/etcd/session/heartbeat.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { socketsAreRead, stallAfter } from '../support/block-event-loop.js';
import {
  clientsOf,
  compact,
  hold,
  keysBelow,
  lossOf,
  requestFor,
  revokeLease,
  revokeLeaseOf,
  write,
  writeAgain,
} from './support/clients.js';

let members: EtcdServer[];
/** The member to which most clients are connected. */
let server: EtcdServer;

beforeAll(async () => {
  members = await EtcdServer.startCluster(3);
  server = members[0] as EtcdServer;
});

afterAll(() => Promise.all(members.map((member) => member.stop())));

/** @param sessionTimeoutMs longer than the stalls of a busy machine, unless the test is about the end of a session */
async function setUp(sessionTimeoutMs = 12_000) {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open, basePath } = clientsOf({ sessionTimeoutMs });
  const one = open(proxy.connectString);
  await one.connect();
  const other = open(server.host);
  await other.connect();
  return { proxy, one, other, open, basePath };
}

describe('a link that is half open', () => {
  it('is left for another server, and the lease goes on there', async () => {
    const proxies = await Promise.all(members.map(({ port }) => FaultProxy.open(port)));
    onTestFinished(() => Promise.all(proxies.map((proxy) => proxy.close())).then(() => {}));
    const { open } = clientsOf({ sessionTimeoutMs: 20_000 });
    const client = open(proxies.map(({ connectString }) => connectString));
    const lease = await hold(client, 'k');
    const cut = proxies.find(({ connections }) => connections > 0);
    cut?.blackHole();
    await expect.poll(() => lease.state, { interval: 5 }).toBe('suspended');
    await expect.poll(() => lease.state, { interval: 5 }).toBe('held');
    expect(lease.isHeld()).toBe(true);
    const next = hold(client, 'k');
    await lease.release();
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});

describe('a wait queue', () => {
  it('goes on when a release and a new entry are sent in one turn', async () => {
    const { open } = clientsOf({ sessionTimeoutMs: 120_000 });
    const client = open(server.host);
    let lease = await hold(client, 'k');
    for (let turn = 0; turn < 10; turn++) {
      const next = hold(client, 'k');
      await lease.release();
      lease = await next;
    }
    expect(await client.lineOf('k')).toHaveLength(1);
  });

  it('has few names, however often the key is acquired and tried: servers go through all that it has had', async () => {
    const { open, basePath } = clientsOf({ sessionTimeoutMs: 120_000 });
    const [client, other] = [open(server.host), open(server.host)];
    const names = new Set<string>();
    for (let turn = 0; turn < 10; turn++) {
      const lease = await hold(client, 'k', { wait: turn % 2 === 0 });
      (await keysBelow(server, `${basePath}/lock/k//`)).forEach((key) => names.add(key));
      expect(await other.acquire(requestFor('k', { wait: false }))).toBeNull();
      const giveUp = new AbortController();
      const given = client.acquire(requestFor('k', { signal: giveUp.signal })).catch(() => 'gave up');
      await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
      giveUp.abort(new Error('gave up'));
      expect(await given).toBe('gave up');
      await lease.release();
      const taken = await hold(other, 'k', { wait: false });
      (await keysBelow(server, `${basePath}/lock/k//`)).forEach((key) => names.add(key));
      await taken.release();
    }
    // Two of the one client at once, and one of the other.
    expect(names.size).toBeLessThanOrEqual(3);
  });

  it('is read again when the server has forgotten the changes that a link has missed', async () => {
    const { proxy, one, other } = await setUp();
    const first = await hold(other, 'k');
    const waiting = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.refuse();
    proxy.disconnect();
    await expect.poll(() => one.state).toBe('suspended');
    await first.release();
    await write(server, 'elsewhere', '1');
    await compact(server);
    proxy.heal();
    expect((await waiting).fencingToken).toBeGreaterThan(first.fencingToken);
    // The watches of a client are answered in their order: when this key is granted, those before it were begun again.
    const marker = await hold(other, 'marker');
    const marked = hold(one, 'marker');
    await expect.poll(async () => (await other.lineOf('marker')).length).toBe(2);
    await marker.release();
    await marked;
    expect(proxy.accepted).toBe(2);
  });
});

describe('a lease that an operator revokes', () => {
  it('is lost before its time, and the next session is granted the key again', async () => {
    const { open, basePath } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(server.host);
    const lease = await hold(client, 'k');
    const lost = lossOf(lease);
    const since = performance.now();
    await revokeLease(server, basePath);
    expect((await lost) - since).toBeLessThan(15_000);
    expect(lease.isHeld()).toBe(false);
    const next = await hold(client, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('sends waits to the end of the queue, in the next session', async () => {
    const { open, basePath } = clientsOf();
    const [one, other] = [open(server.host), open(server.host)];
    const first = await hold(other, 'k');
    const waiting = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    await revokeLeaseOf(server, `${basePath}/lock/k//`, 'last');
    await first.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});

describe('a session that a late request of a former link binds again', () => {
  it('goes on: its leases are held, and its requests are answered', async () => {
    const { one, other, basePath } = await setUp();
    const lease = await hold(one, 'k');
    const key = `${basePath}/session/${one.vitals?.().sessionId ?? ''}`;
    await writeAgain(server, key);
    const [next] = await Promise.all([
      hold(one, 'next', { wait: false }),
      one.records.write([{ name: 'r', value: '1' }]),
    ]);
    expect(next.isHeld()).toBe(true);
    expect(lease.isHeld()).toBe(true);
    const waiting = hold(other, 'k');
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('notices it without a request', async () => {
    const { one, basePath, proxy } = await setUp();
    const lease = await hold(one, 'k');
    await writeAgain(server, `${basePath}/session/${one.vitals?.().sessionId ?? ''}`);
    await expect.poll(() => proxy.accepted, { timeout: 10_000 }).toBe(2);
    await expect.poll(() => lease.state, { timeout: 10_000 }).toBe('held');
  });
});

describe('close()', () => {
  it('leaves no key of the session', async () => {
    const { one, other, basePath } = await setUp(120_000);
    await hold(one, 'k');
    const waiting = other.acquire(requestFor('k')).catch((error: unknown) => error);
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await Promise.all([other.close(), one.close()]);
    expect(await waiting).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    // A busy server ends the lease later than close() waits, and long before its time.
    await expect.poll(() => keysBelow(server, `${basePath}/`)).toEqual([]);
  });
});

describe('servers that are out of reach, after they have said that the session is over', () => {
  it('do not keep a request whose caller gives up', async () => {
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const { open, basePath } = clientsOf();
    const client = open(proxy.connectString);
    await (await hold(client, 'k')).release();
    const { hurry } = Heartbeat.prototype;
    const doubted = new Promise<void>((resolve) => {
      const spy = vi.spyOn(Heartbeat.prototype, 'hurry').mockImplementation(function (this: Heartbeat) {
        proxy.blackHole();
        hurry.call(this);
        resolve();
      });
      onTestFinished(() => spy.mockRestore());
    });
    await revokeLease(server, basePath);
    const leaving = new AbortController();
    const asked = client.acquire(requestFor('k', { signal: leaving.signal }));
    await doubted;
    const reason = new Error('gave up');
    leaving.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });
});

describe('a stall of the process', () => {
  it('is no silence of the server: answers that were not read count', async () => {
    const sessionTimeoutMs = 6_000;
    const { one, other } = await setUp(sessionTimeoutMs);
    // The proxy before it is in this process, and stalls as well.
    await one.close();
    const lease = await hold(other, 'k');
    const closed = vi.spyOn(EtcdLink.prototype, 'close');
    onTestFinished(() => closed.mockRestore());
    for (let round = 0; round < 2; round++) {
      await stallAfter(Heartbeat.prototype, 'beat', sessionTimeoutMs / 3);
      // A link may be closed before, because the machine is busy.
      closed.mockClear();
      await socketsAreRead();
      expect(closed).not.toHaveBeenCalled();
      await (await hold(other, 'another')).release();
    }
    expect(lease.isHeld()).toBe(true);
  });
});
