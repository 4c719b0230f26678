import type { Socket } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { handshakeReply, openFakeServer } from './support/fake-server.js';
import { untilState } from './support/leases.js';
import { driverInstances } from './support/driver-instances.js';
import { connectClient, makeClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral } from './support/open-session.js';
import { makePlain } from './support/plain-client.js';
import type { PlainClient } from './support/plain-client.js';

const target = inject('zookeeper');
const DISCONNECTS = 50;

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
const listenersOf = (manager: PlainClient['connectionManager']) => {
  const { socket } = manager;
  const emitters = [manager as unknown as NodeJS.EventEmitter, socket as unknown as NodeJS.EventEmitter];
  return emitters.flatMap((emitter) => emitter.eventNames().map((name) => emitter.listenerCount(name)));
};

describe('a server that takes a session up and hangs up, again and again', () => {
  it('is tried with pauses; the plain driver makes none', async () => {
    const greet = (socket: Socket) => void socket.once('data', () => socket.end(handshakeReply(10_000)));
    const [one, other] = [await openFakeServer({ greet }), await openFakeServer({ greet })];
    makePlain(one.connectString).connect();
    const { client, told } = makeClient(other.connectString);
    client.connect();
    await eventually(() => other.accepted >= 7 || undefined, 'seven attempts');
    expect(one.accepted).toBeGreaterThan(2 * other.accepted);
    expect(told.filter((what) => what === 'connected').length).toBeGreaterThanOrEqual(5);
  });
});

describe('a session that is disconnected again and again', () => {
  it(
    'stays the same, with the same lease and the same place in line, and leaves nothing behind',
    { timeout: 180_000 },
    async () => {
      const basePath = freshBasePath();
      const proxy = await openProxy(target);
      const managers = driverInstances();
      const service = await openService({
        connectString: proxy.connectString,
        basePath,
        sessionTimeoutMs: 10_000,
        waitMs: 120_000,
      });
      const lease = await service.acquire('k');
      const token = lease.fencingToken;
      const waiting = service.acquire('k', { reentrant: false });
      const outside = await openService({ connectString: target, basePath });
      const line = async () => {
        const client = await openClient(target);
        const names = await contendersAt(client, `${basePath}/k`);
        await client.close(1_000);
        return names;
      };
      const before = await eventually(async () => {
        const names = await line();
        return names.length === 2 ? names : undefined;
      }, 'a waiter');
      const [sessionId, listeners] = [Buffer.from(managers[0]!.sessionId), listenersOf(managers[0]!)];
      const timersBefore = timers();

      for (let round = 1; round <= DISCONNECTS; round++) {
        proxy.disconnect(round % 2 === 0 ? 'rst' : 'fin');
        await eventually(() => proxy.accepted > round || undefined, 'another connection');
        await untilState(lease, 'held');
        expect(lease.isHeld()).toBe(true);
      }

      expect(managers[0]!.sessionId).toEqual(sessionId);
      expect(lease.fencingToken).toBe(token);
      expect(await line()).toEqual(before);
      expect(listenersOf(managers[0]!)).toEqual(listeners);
      expect(managers[0]!.packetQueue.queue).toEqual([]);
      expect(timers()).toBeLessThanOrEqual(timersBefore + 3);
      expect(await outside.tryAcquire('k')).toBeNull();
      await lease.release();
      expect((await waiting).isHeld()).toBe(true);
    },
  );

  it('stays the same for a bare client, in which requests are under way all the time', async () => {
    const proxy = await openProxy(target);
    const { client, told } = await connectClient(proxy.connectString, { sessionTimeoutMs: 10_000 });
    const own = await createEphemeral(client, freshBasePath());
    let isOver = false;
    const answers = { read: 0, lost: 0 };
    const busy = (async () => {
      while (!isOver) {
        await client.read('/').then(
          () => answers.read++,
          () => answers.lost++,
        );
        await new Promise(setImmediate);
      }
    })();
    for (let round = 1; round <= 10; round++) {
      proxy.disconnect();
      await eventually(() => told.filter((what) => what === 'connected').length > round || undefined, 'connected');
    }
    isOver = true;
    await busy;
    expect((await client.read(own.path)).stat.czxid).toBe(own.czxid);
    expect(answers.read).toBeGreaterThan(0);
    expect(told).not.toContain('ended');
    expect(told.filter((what) => what === 'disconnected')).toHaveLength(10);
  });
});
