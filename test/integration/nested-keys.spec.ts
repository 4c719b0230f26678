import { describe, expect, inject, it } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { twoProcesses } from '../support/two-processes.js';

const connectString = inject('zookeeper');
const options = { waitMs: 10_000 };

describe('a key below another one', () => {
  it.each([
    'chain/block-0000000000',
    'chain/lock--000000001',
    'chain/x__WRIT__0000000000',
    'chain/x__READ__0000000000',
  ])('is no contender of the key above it, whatever its name: %s', async (inner) => {
    const { one, other } = await twoProcesses(connectString);
    const held = await one.acquire(inner);

    expect(await other.contenders('chain')).toEqual([]);
    await other.using('chain', () => {}, options);
    await other.readWriteLock('chain').write.using(() => {}, options);
    await other.revoke('chain', { graceMs: 0 });

    expect(held.isHeld()).toBe(true);
    expect(await other.tryAcquire(inner)).toBeNull();
    expect(await other.contenders(inner)).toHaveLength(1);
  });

  it('is no candidate of the election above it', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.acquire('office/latch-0000000000');
    const term = await new LeaderElectionService(other).campaign('office', options);
    expect(term.isHeld()).toBe(true);
  });

  it('takes no permit of the semaphore above it', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.acquire('pool/leases/release-0000000000');
    expect((await other.semaphore('pool', { permits: 1 }).tryAcquire())?.isHeld()).toBe(true);
  });

  it('stands below the base path under a name that no lock on the base path would parse', async () => {
    const { one, basePath, client } = await twoProcesses(connectString);
    await one.acquire('lock-0000000000');
    expect(await client.children(basePath)).toEqual(['lock%2D0000000000']);
    await expect(one.acquire(basePath)).rejects.toThrow('is the base path');
  });

  it('is refused as an absolute path that a recipe would parse, before anything is sent', async () => {
    const { one, basePath, client } = await twoProcesses(connectString);
    const key = `${basePath}/chain/block-0000000000`;
    const refusal = expect.objectContaining({ message: expect.stringContaining('write "block%2D0000000000" instead') });
    await expect(one.acquire(key)).rejects.toEqual(refusal);
    await expect(one.contenders(key)).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(one.revoke(key)).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(client.children(basePath)).rejects.toMatchObject({ code: -101 });
  });
});
