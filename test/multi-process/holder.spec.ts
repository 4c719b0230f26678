import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { startWorker } from './start-worker.js';

const connectString = inject('zookeeper');
// Long enough that the other process reports its lease before its session ends, also on a busy machine.
const SESSION_MS = 2_000;

async function heldElsewhere() {
  const basePath = freshBasePath();
  const holder = startWorker('holder', { connectString, basePath, sessionTimeoutMs: SESSION_MS });
  const { token } = await holder.next();
  const locks = await openService({ connectString, basePath, waitMs: 30_000 });
  return { holder, locks, token: BigInt(String(token)) };
}

describe('a key held by another process', () => {
  it('is free soon after that process is killed, with a larger token', async () => {
    const { holder, locks, token } = await heldElsewhere();
    expect(await locks.tryAcquire('key')).toBeNull();

    holder.signal('SIGKILL');

    const lease = await locks.acquire('key');
    expect(lease.fencingToken).toBeGreaterThan(token);
  });

  it('is known to be lost by a process that was stopped for too long', async () => {
    const { holder, locks, token } = await heldElsewhere();
    expect(await holder.ask({})).toEqual({ isHeld: true });

    holder.signal('SIGSTOP');
    const lease = await locks.acquire('key');
    const said = holder.next();
    holder.signal('SIGCONT');

    expect(await said).toEqual({ lost: expect.stringContaining('LockLostError') });
    expect(await holder.ask({})).toEqual({ isHeld: false });
    expect(lease.isHeld()).toBe(true);
    expect(lease.fencingToken).toBeGreaterThan(token);
  });
});
