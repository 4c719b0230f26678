import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { driverInstances } from './support/driver-instances.js';
import { untilState } from './support/leases.js';
import { openProxy } from './support/open-proxy.js';
import type { PlainClient } from './support/plain-client.js';

const target = inject('zookeeper');
const DISCONNECTS = 50;

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
const listenersOf = (manager: PlainClient['connectionManager']) => {
  const { socket } = manager;
  const emitters = [manager as unknown as NodeJS.EventEmitter, socket as unknown as NodeJS.EventEmitter];
  return emitters.flatMap((emitter) => emitter.eventNames().map((name) => emitter.listenerCount(name)));
};

describe('a session that is disconnected repeatedly', () => {
  it(
    'keeps its id, its lease and its place in the wait queue, and leaves nothing behind',
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
        // A handshake alone proves no session. On a busy machine all rounds last longer than the session timeout.
        if (round % 5 === 0) await (await service.acquire('other')).release();
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
});
