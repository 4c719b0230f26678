import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { untilState } from './support/leases.js';
import { inUse, openProxies } from './support/open-proxy.js';

const target = inject('zookeeper');

describe('a session whose server is frozen', () => {
  it('keeps its lease when each of its servers is frozen in turn', async () => {
    const { proxies, connectString } = await openProxies(target);
    const service = await openService({ connectString, basePath: freshBasePath(), sessionTimeoutMs: 6_000 });
    const lease = await service.acquire('k');
    for (let round = 0; round < 4; round++) {
      const { used, spare } = inUse(proxies);
      const before = spare.accepted;
      used.blackHole();
      await eventually(() => spare.accepted > before || undefined, 'another server');
      await untilState(lease, 'held');
      // A session that moves again before it is proven again only has what is left of its last proof.
      await service.using('another', () => {});
      used.disconnect();
      used.heal();
      await eventually(() => used.connections === 0 || undefined, 'the old link gone');
    }
    expect([lease.isHeld(), lease.state]).toEqual([true, 'held']);
  });
});
