import { describe, expect, inject, it } from 'vitest';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const noLine = { line: 'none' } as const;

describe("mutex with line: 'none'", () => {
  it('is taken by one of those who race for its single znode', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const attempts = Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).mutex('cron', noLine).tryAcquire());
    const leases = (await Promise.all(attempts)).filter((lease) => lease !== null);

    expect(leases).toHaveLength(1);
    expect(await contendersAt(client, `${basePath}/cron`)).toEqual(['lock-0000000000']);
    await leases[0]?.release();
    expect(await contendersAt(client, `${basePath}/cron`)).toEqual([]);
  });

  it('grows its token with every grant', async () => {
    const { one, other } = await twoProcesses(connectString);
    const tokens: bigint[] = [];
    for (const service of [one, other, one]) {
      await service.mutex('cron', noLine).using(({ fencingToken }) => void tokens.push(fencingToken));
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('rejects acquire at once while it is held, and takes no waiting time', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.mutex('cron', noLine).acquire();
    await expect(other.mutex('cron', noLine).acquire()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 0 });
    await expect(other.mutex('cron', noLine).acquire({ waitMs: 10 })).rejects.toThrow(/waitMs must be 0/);
  });

  it('is not granted while somebody stands in line, and holds off a line that comes later', async () => {
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
