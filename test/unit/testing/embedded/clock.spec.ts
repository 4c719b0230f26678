import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RunningClock } from '../../../../lib/testing/embedded/sessions/running-clock.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { blockEventLoop } from '../../../support/block-event-loop.js';
import { eventually } from '../../../support/eventually.js';
import { openService } from '../../../support/services.js';
import { ANYONE, EMPTY, startServer } from './servers.js';

// alone: one of the longest files.

describe('the manual clock of an embedded server', () => {
  it('ends a session at the first tick after its timeout, and before advance() returns', async () => {
    const zookeeper = await startServer({ clock: 'manual' });
    const { client, next } = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const ended = next('ended');
    zookeeper.advance(1_000);
    expect(zookeeper.ownerOf('/own')).toBeDefined();
    zookeeper.advance(500);
    expect(zookeeper.ownerOf('/own')).toBeUndefined();
    expect(await ended).toBe('expired');
  });

  it('restarts a session timeout with every request of the client', async () => {
    const zookeeper = await startServer({ clock: 'manual' });
    const { client } = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    for (let at = 0; at < 5; at++) {
      zookeeper.advance(900);
      await client.read('/own');
    }
    expect(zookeeper.ownerOf('/own')).toBeDefined();
  });

  it('moves only by advance(), so no session expires at a breakpoint', async () => {
    const zookeeper = await startServer({ clock: 'manual', tickTimeMs: 10 });
    const { client } = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 100 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    zookeeper.session('/own').pause();
    blockEventLoop(500);
    await zookeeper.idle();
    expect(zookeeper.ownerOf('/own')).toBeDefined();
  });

  it('removes containers that were used, and no others', async () => {
    const zookeeper = await startServer({ clock: 'manual', containerCheckIntervalMs: 1_000 });
    const { client } = await connectClient(zookeeper.connectString);
    for (const path of ['/used', '/unused', '/in-use']) {
      await client.create({ path, data: EMPTY, acl: ANYONE, mode: 4 });
    }
    await client.create({ path: '/in-use/child', data: EMPTY, acl: ANYONE, mode: 0 });
    await client.create({ path: '/used/child', data: EMPTY, acl: ANYONE, mode: 0 });
    await client.delete('/used/child');
    zookeeper.advance(999);
    expect(zookeeper.znode('/used')?.kind).toBe('container');
    zookeeper.advance(1);
    expect(['/used', '/unused', '/in-use'].map((path) => zookeeper.znode(path)?.kind)).toEqual([
      undefined,
      'container',
      'container',
    ]);
  });

  it.each([-1, NaN, Infinity])('refuses to advance by %d ms', async (ms) => {
    const zookeeper = await startServer({ clock: 'manual' });
    expect(() => zookeeper.advance(ms)).toThrow(RangeError);
    zookeeper.advance(1);
  });

  it('is needed for advance()', async () => {
    const zookeeper = await startServer();
    expect(() => zookeeper.advance(1)).toThrow("needs the option clock: 'manual'");
  });
});

describe('a process whose event loop was blocked', () => {
  it('does not count that time', async () => {
    const clock = new RunningClock();
    const [before, startedAt] = [clock.now(), performance.now()];
    const due = new Promise<void>((resolve) => clock.after(10, resolve));
    const alive = setInterval(() => {}, 1_000);
    blockEventLoop(2_000);
    await due;
    clearInterval(alive);
    const [counted, passed] = [clock.now() - before, performance.now() - startedAt];
    expect(passed - counted).toBeGreaterThan(1_900);
  });

  it('does not count that time while it reads what has arrived', async () => {
    const clock = new RunningClock();
    const [before, startedAt] = [clock.now(), performance.now()];
    const read = new Promise<void>((resolve) => clock.whenRead(resolve));
    blockEventLoop(2_000);
    await read;
    const [counted, passed] = [clock.now() - before, performance.now() - startedAt];
    expect(passed - counted).toBeGreaterThan(1_900);
  });

  it('ends no session of others: leases outlive a block longer than their timeout', async () => {
    const zookeeper = await startServer({ minSessionTimeoutMs: 200, tickTimeMs: 100 });
    const { client, told } = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    blockEventLoop(2_000);
    await zookeeper.idle();
    client.ping();
    // A client whose own timers were late may reconnect first: in the same session, with the znode of that session.
    await eventually(() => client.read('/own').catch(() => undefined), 'the session’s own znode is read');
    expect(told).not.toContain('ended');
  });

  it('ends no session when it was blocked between a tick and the look at the sessions', async () => {
    const zookeeper = await startServer({ minSessionTimeoutMs: 200, tickTimeMs: 100 });
    const { client } = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const { whenRead } = RunningClock.prototype;
    const tick = vi.spyOn(RunningClock.prototype, 'whenRead');
    onTestFinished(() => tick.mockRestore());
    await new Promise<void>((resolve) => {
      tick.mockImplementationOnce(function (this: RunningClock, action) {
        whenRead.call(this, action);
        blockEventLoop(2_000);
        resolve();
      });
    });
    await zookeeper.idle();
    expect(zookeeper.ownerOf('/own')).toBeDefined();
    // A client whose own timers were late may reconnect first.
    await eventually(() => client.read('/own').catch(() => undefined), 'the session’s own znode is read');
  });

  it('ends the session of a client that stays silent afterwards', async () => {
    const zookeeper = await startServer({ tickTimeMs: 100 });
    const locks = await openService({ connectString: zookeeper.connectString, sessionTimeoutMs: 1_000 });
    const lease = await locks.acquire('k');
    const lost = once(lease.signal, 'abort');
    zookeeper.pause();
    await lost;
    await eventually(() => zookeeper.sessions().length === 0 || undefined, 'the server has given the session up');
    expect([lease.isHeld(), zookeeper.paths().join()]).toEqual([false, expect.not.stringContaining('lock-')]);
    zookeeper.resume();
  });
});
