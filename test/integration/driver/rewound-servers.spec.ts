import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ZooKeeperServer } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { openClient, untilContenders } from '../../support/znodes.js';
import { lost } from './support/leases.js';
import { connectClient } from './support/observed-client.js';
import { createEphemeral } from './support/open-session.js';

const SESSION_MS = 2_000;
/** Long enough for a lease to outlive a restart of the server, also on a slow machine. */
const LONG_SESSION_MS = 15_000;

describe('a server that comes back without its data', () => {
  let server: ZooKeeperServer;
  let data: string;
  let basePath: string;

  beforeEach(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'rewound-'));
    data = join(dataDir, 'data', 'version-2');
    basePath = freshBasePath();
    server = await ZooKeeperServer.start({ dataDir, tickTimeMs: SESSION_MS / 2 });
    onTestFinished(async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true });
    });
  });

  const open = (sessionTimeoutMs = SESSION_MS) =>
    openService({ connectString: server.connectString, basePath, sessionTimeoutMs });

  /** Repeats an acquisition until it succeeds, as application code does. */
  const untilAcquired = (service: Awaited<ReturnType<typeof open>>) =>
    eventually(() => service.acquire('k').catch(() => undefined), 'an acquisition');

  /** Crashes the server, changes its data, and restarts it. */
  const restartWith = async (change: () => void) => {
    await server.kill();
    change();
    await server.restart();
  };

  it('serves again, within a session timeout, a client that has seen newer transactions', async () => {
    const service = await open();
    const lease = await service.acquire('k');
    await restartWith(() => rmSync(data, { recursive: true }));
    const backAt = performance.now();
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST' });

    const next = await untilAcquired(service);

    expect(next.isHeld()).toBe(true);
    // One session timeout, and time for a loaded machine.
    expect(performance.now() - backAt).toBeLessThan(3 * SESSION_MS);
    await untilContenders(await openClient(server.connectString), `${basePath}/k`, 1);
  });

  it('removes the znodes that were restored with a backup that knows the session', async () => {
    const service = await open(LONG_SESSION_MS);
    const lease = await service.acquire('k');
    const backup = `${data}.backup`;
    await restartWith(() => cpSync(data, backup, { recursive: true }));
    await eventually(() => lease.state === 'held' || undefined, 'a lease that is held again');
    const { client } = await connectClient(server.connectString);
    for (let count = 0; count < 10; count++) await createEphemeral(client, `${freshBasePath()}`);
    await service.using('another', () => {});

    await restartWith(() => {
      rmSync(data, { recursive: true });
      cpSync(backup, data, { recursive: true });
    });
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST' });
    const next = await untilAcquired(service);

    expect(next.isHeld()).toBe(true);
    expect(await untilContenders(await openClient(server.connectString), `${basePath}/k`, 1)).toHaveLength(1);
  });
});
