import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { startJava } from '../support/start.js';

const connectString = inject('zookeeper');

async function shared() {
  const basePath = freshBasePath();
  const locks = await openService({ connectString, basePath });
  const client = await openClient(connectString);
  const java = startJava('Revocation', [connectString, '4000']);
  return { basePath, path: `${basePath}/k`, locks, client, java };
}

describe('a revocation', () => {
  it('of ours is recognized by a revocable lock of Curator’s', async () => {
    const { path, locks, java } = await shared();
    await using _ = java;
    expect(await java.call('acquire', { path })).toBe(true);
    const told = java.call('untilRevoked', {}, { thread: 'listener' });
    const revoking = locks.revoke('k', { graceMs: 60_000 });
    expect(await told).toBe(true);
    await java.call('release');
    await revoking;
    expect(await locks.tryAcquire('k')).not.toBeNull();
  });

  it('by Curator’s Revoker is recognized by our holder', async () => {
    const { path, locks, java, client } = await shared();
    await using _ = java;
    const lease = await locks.acquire('k');
    const [name] = await contendersAt(client, path);
    await java.call('revoke', { path: `${path}/${name}` });
    if (!lease.signal.aborted) await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    expect([lease.state, lease.signal.reason]).toEqual(['revoking', expect.objectContaining({ code: 'LOCK_REVOKED' })]);
    const next = java.call('acquire', { path });
    await lease.release();
    expect(await next).toBe(true);
  });

  it('takes the key from a lock of Curator’s that does not listen', async () => {
    const { path, locks, java } = await shared();
    await using _ = java;
    await java.call('acquire', { path });
    await locks.revoke('k', { graceMs: 200 });
    expect((await locks.tryAcquire('k'))?.isHeld()).toBe(true);
  });
});
