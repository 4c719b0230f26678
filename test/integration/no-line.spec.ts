import { describe, expect, inject, it } from 'vitest';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const noLine = { line: 'none' } as const;
const CONTENDER = /^_c_[0-9a-f-]{36}-lock-\d{10}$/;

describe("mutex with line: 'none'", () => {
  it('is granted to exactly one of several simultaneous contenders, every time', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    for (let round = 0; round < 10; round++) {
      const attempts = Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).mutex('cron', noLine).tryAcquire());
      const leases = (await Promise.all(attempts)).filter((lease) => lease !== null);

      expect(leases).toHaveLength(1);
      expect(await contendersAt(client, `${basePath}/cron`)).toEqual([expect.stringMatching(CONTENDER)]);
      await leases[0]?.release();
      expect(await contendersAt(client, `${basePath}/cron`)).toEqual([]);
    }
  });

  it('is granted to the first of two that try while the key is free', async () => {
    const { one, other } = await twoProcesses(connectString);
    const [first, second] = await Promise.all(
      [one, other].map((service) => service.mutex('cron', noLine).tryAcquire()),
    );
    expect([first, second].filter((lease) => lease?.isHeld())).toHaveLength(1);
  });

  it.each(['the holder’s znode is deleted by hand', 'the key is taken by force'])(
    'does not give away the key of the next holder when %s',
    async (how) => {
      const { one, other, client, basePath } = await twoProcesses(connectString);
      const former = await one.mutex('cron', noLine).acquire();
      const [name = ''] = await contendersAt(client, `${basePath}/cron`);
      if (how.includes('force')) await other.revoke('cron', { graceMs: 0 });
      else await client.delete(`${basePath}/cron/${name}`);
      const next = await other.mutex('cron', noLine).acquire();
      await former.release();

      expect(await contendersAt(client, `${basePath}/cron`)).toHaveLength(1);
      expect(await one.mutex('cron', noLine).tryAcquire()).toBeNull();
      expect(next.isHeld()).toBe(true);
    },
  );

  it('grows its token with every grant', async () => {
    const { one, other } = await twoProcesses(connectString);
    const tokens: bigint[] = [];
    for (const service of [one, other, one]) {
      await service.mutex('cron', noLine).using(({ fencingToken }) => void tokens.push(fencingToken));
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('rejects acquire at once while it is held, and accepts no waitMs above 0', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.mutex('cron', noLine).acquire();
    await expect(other.mutex('cron', noLine).acquire()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 0 });
    await expect(other.mutex('cron', noLine).acquire({ waitMs: 10 })).rejects.toThrow(/waitMs must be 0/);
  });

  it('is not granted while a contender is queued, and blocks a later wait queue', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const queued = await one.acquire('job');
    expect(await other.mutex('job', noLine).tryAcquire()).toBeNull();
    await queued.release();

    const single = await other.mutex('job', noLine).acquire();
    const waiting = one.acquire('job');
    await untilContenders(client, `${basePath}/job`, 2);
    expect(await one.tryAcquire('job')).toBeNull();
    await single.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});
