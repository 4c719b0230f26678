import { hostname } from 'node:os';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { LockTimeoutError } from '../../lib/contract/errors.js';
import type { Lock } from '../../lib/contract/lock.js';
import { FaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
// Long enough for a reply on a busy machine.
const WAIT_MS = 2_000;

const refused = (lock: Pick<Lock, 'acquire'>): Promise<LockTimeoutError> =>
  lock.acquire({ waitMs: WAIT_MS }).then(
    () => expect.unreachable('it was granted'),
    (error: LockTimeoutError) => error,
  );

const labels = ({ holders }: LockTimeoutError) => holders.map(({ owner }) => owner.label);

describe('a LockTimeoutError', () => {
  it('names the holder of another session, its host and process, but no waiters', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const before = Date.now();
    await other.acquire('k', { label: 'Report.run' });
    const waiting = other.acquire('k', { label: 'waits' });
    waiting.catch(() => {});
    await untilContenders(client, `${basePath}/k`, 2);
    const error = await refused(one.mutex('k'));
    expect(error.holders).toMatchObject([
      { state: 'held', owner: { label: 'Report.run', host: hostname(), pid: process.pid }, isOwn: false },
    ]);
    expect(error.holders[0]?.since.getTime()).toBeGreaterThan(before - 60_000);
    expect(error.message).toContain(`"k" is locked by Report.run (host ${hostname()}, pid ${process.pid}) since `);
  });

  it('names the writer that blocks a reader, and the readers that block a writer', async () => {
    const { one, other } = await twoProcesses(connectString);
    await other.readWriteLock('w').write.acquire({ label: 'writer' });
    await other.readWriteLock('r').read.acquire({ label: 'reader 1' });
    await other.readWriteLock('r').read.acquire({ label: 'reader 2' });
    const [read, write] = await Promise.all([
      refused(one.readWriteLock('w').read),
      refused(one.readWriteLock('r').write),
    ]);
    expect(labels(read)).toEqual(['writer']);
    expect(labels(write)).toEqual(['reader 1', 'reader 2']);
  });

  it('names the holders of permits, but no waiters', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const pool = (of: typeof one) => of.semaphore('pool', { permits: 3 });
    await pool(other).acquire({ permits: 2, label: 'pair' });
    await pool(other).acquire({ label: 'single' });
    // A granted caller leaves the gate in the background.
    await untilContenders(client, `${basePath}/pool/locks`, 0);
    const waiting = pool(other).acquire({ label: 'waits' });
    waiting.catch(() => {});
    await untilContenders(client, `${basePath}/pool/locks`, 1);
    const error = await refused(pool(one));
    expect(error.holders.map(({ owner, permits }) => [owner.label, permits])).toEqual([
      ['pair', 2],
      ['single', 1],
    ]);
  });

  it('names the holder of a key of a set, but no waiting sets', async () => {
    const { one, other } = await twoProcesses(connectString);
    await other.acquire('b', { label: 'holder of b' });
    const [inOrder, atomic] = await Promise.all([
      refused(one.multi(['a', 'b'])),
      refused(one.multi(['b', 'c'], { atomic: true })),
    ]);
    expect(labels(inOrder)).toEqual(['holder of b']);
    expect(labels(atomic)).toEqual(['holder of b']);
  });

  it('names the holder of a segment', async () => {
    const { one, other } = await twoProcesses(connectString);
    await other.segmented('stock', { segments: 1 }).acquire({ label: 'clerk' });
    expect(labels(await refused(one.segmented('stock', { segments: 1 })))).toEqual(['clerk']);
  });

  it('comes in time, without names, when the servers do not answer', async () => {
    const basePath = freshBasePath();
    const proxy = await FaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const [other, client] = await Promise.all([openService({ connectString, basePath }), openClient(connectString)]);
    const one = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 10_000 });
    await other.acquire('k', { label: 'holder' });
    const waiting = refused(one.mutex('k'));
    await untilContenders(client, `${basePath}/k`, 2);
    proxy.blackHole();
    const error = await waiting;
    proxy.heal();
    expect(error.message).toBe('"k" is locked by somebody else (waited 2000 ms)');
  });
});
