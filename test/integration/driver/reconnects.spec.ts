import type { Socket } from 'node:net';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { handshakeReply, openFakeServer } from './support/fake-server.js';
import { connectClient, makeClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral } from './support/open-session.js';
import { makePlain } from './support/plain-client.js';

const target = inject('zookeeper');

describe('a server that repeatedly accepts a session and hangs up', () => {
  it('is retried with pauses, which the plain driver does not make', async () => {
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

describe('a session that is disconnected repeatedly', () => {
  it('stays the same for a bare client with constantly pending requests', async () => {
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

  it('connects again with one attempt and without a pause, as long as each link has answered something', async () => {
    const proxy = await openProxy(target);
    const observed = await connectClient(proxy.connectString, { sessionTimeoutMs: 10_000 });
    const { client } = observed;
    const delays = delaysOfTimers();
    for (let round = 1; round <= 12; round++) {
      // A link that ends within 25 ms may have been ended by its own requests.
      for (const since = performance.now(); performance.now() - since < 30;) await client.read('/');
      const connected = observed.next('connected');
      delays.length = 0;
      proxy.disconnect();
      await connected;
      // The one timer is the time limit of the attempt. A pause would be shorter.
      expect(delays).toEqual([expect.any(Number)]);
      expect(delays[0]).toBeGreaterThan(1_000);
      expect(proxy.accepted).toBe(1 + round);
    }
    expect(observed.told).not.toContain('ended');
  });
});

/** The delays of all timers that are set from now on. */
function delaysOfTimers(): number[] {
  const delays: number[] = [];
  const set = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((action: () => void, ms: number) => {
    delays.push(ms);
    return set(action, ms);
  }) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  return delays;
}
