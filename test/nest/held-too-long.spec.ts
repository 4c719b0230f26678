import 'reflect-metadata';
import { Injectable, Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  currentLease,
  DistributedLock,
  LeaderOnly,
  LockOverdueError,
  LockService,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
} from '../../lib/index.js';
import type { Lease, LockModuleOptions } from '../../lib/index.js';
import { startApp } from './app.js';

@Injectable()
class Desk {
  @DistributedLock('one')
  async one(during: () => unknown) {
    await during();
  }

  @DistributedLock('labelled', { label: 'a label' })
  async labelled(during: () => unknown) {
    await during();
  }

  @DistributedLock(['a', 'b'])
  async pair(during: () => unknown) {
    await during();
  }

  @DistributedLock(['c', 'd'], { atomic: true })
  async atomicPair(during: () => unknown) {
    await during();
  }

  @ReadLock('file')
  async read(during: () => unknown) {
    await during();
  }

  @WriteLock('file')
  async write(during: () => unknown) {
    await during();
  }

  @Semaphore('pdf', { permits: 2 })
  async permit(during: () => unknown) {
    await during();
  }

  @SegmentLock({ key: 'stock', segments: 1 })
  async segment(during: () => unknown) {
    await during();
  }

  @DistributedLock('long', { maxHeldMs: false, warnHeldMs: Infinity })
  async unlimited(during: () => unknown) {
    await during();
  }

  @DistributedLock('patient', { onLost: 'throw' })
  async strict(during: () => unknown) {
    await during();
  }

  @LeaderOnly('poller')
  async poll(during: () => unknown): Promise<string | undefined> {
    await during();
    return 'polled';
  }
}

async function startDesk(options: Partial<LockModuleOptions> = {}) {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const { app, backend } = await startApp({ providers: [Desk] }, { drainTimeoutMs: 0, ...options });
  const lines = () => warn.mock.calls.map(([line]) => String(line));
  return { desk: app.get(Desk), locks: app.get(LockService), backend, warn, lines };
}

afterEach(() => void vi.restoreAllMocks());

/** Resolves when a lease has been held for longer than the module's limits. */
async function overdue(desk: Desk): Promise<void> {
  const untilLost = () => vi.waitFor(() => expect(currentLease()?.state).toBe('lost'), { timeout: 30_000 });
  await expect(desk.one(untilLost)).rejects.toBeInstanceOf(LockOverdueError);
}

const METHODS = [
  ['one', '"one"'],
  ['pair', '"a, b"'],
  ['atomicPair', '"c, d"'],
  ['read', '"file"'],
  ['write', '"file"'],
  ['permit', '"pdf"'],
  ['segment', 'segment 0 of "stock"'],
] as const;

describe('a decorated method that holds its lease too long', () => {
  it.each(METHODS)('is reported in a warning with its class and name: %s', async (method, title) => {
    const { desk, lines } = await startDesk({ warnHeldMs: 5 });
    const end = deferred();
    const call = desk[method](() => end.promise);
    await vi.waitFor(() => expect(lines()).not.toEqual([]), { timeout: 30_000 });
    end.resolve();
    await call;
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatch(/has been held for 5 ms \(since \S+, acquired at Desk\.\w+\)/);
    expect(lines()[0]).toContain(`${title} has been held`);
    expect(lines()[0]).toContain(`Desk.${method}`);
  });

  it('is reported with its label as well', async () => {
    const { desk, lines } = await startDesk({ warnHeldMs: 5 });
    const end = deferred();
    const call = desk.labelled(() => end.promise);
    await vi.waitFor(() => expect(lines()).not.toEqual([]), { timeout: 30_000 });
    end.resolve();
    await call;
    expect(lines()[0]).toContain('label "a label", acquired at Desk.labelled');
  });

  it.each(METHODS)('loses its key to the next caller, and rejects when it has ended: %s', async (method) => {
    const { desk, backend } = await startDesk({ maxHeldMs: 5, overdueGraceMs: 5 });
    const end = deferred();
    let lease: Lease | undefined;
    const call = desk[method](() => ((lease = currentLease()), end.promise));
    await vi.waitFor(() => expect(lease?.state).toBe('lost'), { timeout: 30_000 });
    expect(lease?.signal.reason).toBeInstanceOf(LockOverdueError);
    await desk[method](() => {});
    end.resolve();
    await expect(call).rejects.toBeInstanceOf(LockOverdueError);
    expect(backend.busyKeys).toEqual([]);
  });

  it('can be excluded from the module’s limits', async () => {
    const { desk, lines } = await startDesk({ maxHeldMs: 5, warnHeldMs: 5, overdueGraceMs: 0 });
    const held = desk.unlimited(async () => {
      const lease = currentLease();
      await overdue(desk);
      expect(lease?.state).toBe('held');
    });
    await held;
    expect(lines().filter((line) => line.includes('"long"'))).toEqual([]);
  });
});

describe('the module’s onLost', () => {
  it("applies to decorated methods and to using(): 'ignore'", async () => {
    const { desk, locks, backend } = await startDesk({ onLost: 'ignore' });
    const lose = (key: string) => backend.leaseOn(key)?.lose(new LockOverdueError(key, 1));
    await desk.one(() => lose('one'));
    expect(await locks.using('k', () => lose('k') ?? 'done')).toBe('done');
    await locks.multi(['x', 'y']).using(() => lose('x'));
    await locks.multi(['x', 'y'], { atomic: true }).using(() => lose('x'));
    await expect(desk.strict(() => lose('patient'))).rejects.toBeInstanceOf(LockOverdueError);
    await expect(locks.using('k', () => lose('k'), { onLost: 'throw' })).rejects.toBeInstanceOf(LockOverdueError);
  });

  it("is 'throw' by default", async () => {
    const { desk, backend } = await startDesk();
    const lost = desk.one(() => backend.leaseOn('one')?.lose(new LockOverdueError('one', 1)));
    await expect(lost).rejects.toBeInstanceOf(LockOverdueError);
  });
});

describe('a leader', () => {
  it('is not warned about', async () => {
    const { desk, lines } = await startDesk({ warnHeldMs: 1, maxHeldMs: 1, overdueGraceMs: 0 });
    await vi.waitFor(async () => expect(await desk.poll(() => {})).toBe('polled'), { timeout: 30_000 });
    await desk.poll(() => overdue(desk));
    expect(lines().filter((line) => line.includes('"poller"'))).toEqual([]);
  });
});
