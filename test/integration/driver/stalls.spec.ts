import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { openService } from '../../support/services.js';
import { lost } from './support/leases.js';
import { openProxy } from './support/open-proxy.js';

const target = inject('zookeeper');
const SESSION_MS = 1_000;

describe('a lease', () => {
  it('is known to be lost after a stall, before any other code runs', async () => {
    const service = await openService({
      connectString: target,
      basePath: freshBasePath(),
      sessionTimeoutMs: SESSION_MS,
    });
    const lease = await service.acquire('k');
    blockEventLoop(3 * SESSION_MS);
    expect([lease.isHeld(), lease.state]).toEqual([false, 'lost']);
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST' });
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });

  it('is kept after a shorter stall, with its connection: replies were only unread', async () => {
    const proxy = await openProxy(target);
    const service = await openService({
      connectString: proxy.connectString,
      basePath: freshBasePath(),
      sessionTimeoutMs: 8_000,
    });
    const lease = await service.acquire('k');
    for (let round = 0; round < 3; round++) {
      // Longer than a third of the session timeout, after which a reply is overdue.
      blockEventLoop(2_800);
      await service.using('another', () => {});
    }
    expect([lease.isHeld(), lease.state, proxy.accepted]).toEqual([true, 'held', 1]);
  });
});
