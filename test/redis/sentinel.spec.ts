import { describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { requestFor } from './support/clients.js';
import { watchedBySentinels } from './support/sentinels.js';
import type { Watched } from './support/sentinels.js';
import { Traffic } from './support/traffic.js';

const CLIENTS = 3;
const SESSION_MS = 3_000;
const LONG = { timeout: 60_000 };

/** Traffic on a key of servers behind sentinels, which has begun. */
async function begun(sessionTimeoutMs = SESSION_MS) {
  const watched = await watchedBySentinels();
  const clients = Array.from({ length: CLIENTS }, () =>
    redis({ sentinels: watched.sentinels, sessionTimeoutMs, basePath: 'sentinel' }).create(),
  );
  const traffic = new Traffic('k', CLIENTS);
  const end = new AbortController();
  const run = traffic.run(clients, end.signal);
  onTestFinished(async () => {
    end.abort();
    await run;
    await Promise.all(clients.map((client) => client.close()));
  });
  await granted(traffic);
  return { watched, traffic, clients };
}

/** Resolves when each client has been granted the key ten more times. */
async function granted({ grants }: Traffic): Promise<void> {
  const before = [...grants];
  await expect.poll(() => grants.every((count, place) => count >= (before[place] ?? 0) + 10), LONG).toBe(true);
}

async function untilPromoted({ primary, primaryPort }: Watched): Promise<void> {
  await expect.poll(primaryPort, LONG).not.toBe(primary.port);
}

describe('a fail-over by sentinels, under traffic', () => {
  it('after the primary was killed: never two holders, tokens grow, and all clients go on', async () => {
    const { watched, traffic } = await begun();
    await watched.primary.kill();
    await untilPromoted(watched);
    await granted(traffic);
    expect(traffic.faults).toEqual([]);
  });

  it('while the primary was paused, and goes on later: never two holders, and all clients go on', async () => {
    const { watched, traffic } = await begun();
    await watched.primary.freeze();
    await untilPromoted(watched);
    await watched.primary.thaw();
    await granted(traffic);
    await expect.poll(() => watched.primary.ask('ROLE'), LONG).toContain('slave');
    await granted(traffic);
    expect(traffic.faults).toEqual([]);
  });

  it('that takes less than a session timeout leaves a holder its key', async () => {
    const { watched, clients } = await begun(8_000);
    const lease = await clients[0]?.acquire(requestFor('held'));
    await watched.primary.kill();
    await untilPromoted(watched);
    await expect.poll(() => clients.map(({ state }) => state), LONG).toEqual(clients.map(() => 'connected'));
    const waiting = clients[1]?.acquire(requestFor('held'));
    await expect.poll(() => clients[1]?.lineOf('held'), LONG).toHaveLength(2);
    expect(lease?.isHeld()).toBe(true);
    await lease?.release();
    expect((await waiting)?.fencingToken).toBeGreaterThan(lease?.fencingToken ?? 0n);
  });
});
