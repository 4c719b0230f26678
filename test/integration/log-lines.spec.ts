import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { closeService, openService } from '../support/services.js';
import type { ServiceOptions } from '../support/services.js';

const connectString = inject('zookeeper');

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const level of ['log', 'warn', 'error'] as const) {
    vi.spyOn(Logger.prototype, level).mockImplementation((message: string) => void lines.push(`${level}: ${message}`));
  }
});
afterEach(() => void vi.restoreAllMocks());

/** A service behind a proxy with which the test causes faults. */
async function behindProxy(options: Partial<ServiceOptions> = {}) {
  const proxy = await ZooKeeperFaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const service = await openService({ connectString: proxy.connectString, basePath: freshBasePath(), ...options });
  return { proxy, service, server: `127.0.0.1:${proxy.connectString.split(':').at(-1)}` };
}

/** Resolves with the lines once one of them contains `text`. */
const untilSaid = (text: string) =>
  eventually(() => (lines.some((line) => line.includes(text)) ? lines : undefined), `a line with "${text}"`);

describe('the log of a connection', () => {
  it('has a line for the session and one for the guarantees at the start, and none for a shutdown', async () => {
    const { service } = await behindProxy({ sessionTimeoutMs: 4_000 });
    await service.using('k', () => {});
    await closeService(service);
    expect(lines).toEqual([
      expect.stringMatching(/^log: connected to [\w.:]+: session 0x[0-9a-f]+, timeout 4000 ms$/),
      expect.stringMatching(/^log: guarantees of zookeeper: decided by a majority of servers; .*queues: durable;/),
    ]);
  });

  it('has one line for the start of an outage and one for its end', async () => {
    const { proxy, service } = await behindProxy({ sessionTimeoutMs: 10_000 });
    const lease = await service.acquire('k');
    proxy.refuse();
    proxy.disconnect();
    await untilSaid('is lost');
    // Long enough for some failed attempts to connect.
    await expect(service.acquire('other', { waitMs: 500 })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      key: 'other',
    });
    proxy.heal();
    await untilSaid('connected again');
    expect(lease.isHeld()).toBe(true);
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(
        /^warn: the connection to .* is lost.*; held leases \(1\) are suspended, and lost unless a server answers within \d+ ms$/,
      ),
      expect.stringMatching(/^warn: connected again to .* after \d+ ms: session 0x[0-9a-f]+, .* the same as before$/),
    ]);
  });

  it('has one line for an expired session, and one for its lost leases', async () => {
    const { proxy, service } = await behindProxy();
    for (let at = 0; at < 12; at++) await service.acquire(`k${at}`, { label: 'Orders.place' });
    await proxy.expireSessions();
    await untilSaid('connected again');
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/^warn: the connection to .* is lost/),
      expect.stringMatching(/^warn: session 0x[0-9a-f]+ is over: expired\. Its leases are lost/),
      expect.stringMatching(
        /^error: lost 12 leases: "k0" \(Orders\.place, held since .* and 2 more\. Reason: the session/,
      ),
      expect.stringMatching(/^warn: connected again to .* after \d+ ms: session 0x[0-9a-f]+, .* a new one$/),
    ]);
  });
});
