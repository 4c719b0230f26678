import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { BackendGuarantees } from '../../../lib/contract/backend-guarantees.js';
import { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import { memory, MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { etcd } from '../../../lib/etcd/etcd.backend.js';
import { redis } from '../../../lib/redis/redis.backend.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { settled } from '../local/callers.js';

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  for (const level of ['log', 'warn'] as const) {
    vi.spyOn(Logger.prototype, level).mockImplementation((message: string) => void lines.push(`${level}: ${message}`));
  }
});
afterEach(() => void vi.restoreAllMocks());

const FORGETFUL: BackendGuarantees = {
  decidedBy: 'one server',
  clocks: 'those of clients and of the server',
  failOver: 'no free key for one session timeout',
  writtenAt: 'server',
  records: 'may be lost',
  sets: 'any keys',
  advice: ['set appendonly to yes', 'set appendfsync to always'],
};

/** A backend whose guarantees are those of its server, which answers when the test says so. */
class ForgetfulBackend extends MemoryBackend {
  override readonly name = 'forgetful';
  override guarantees: BackendGuarantees = { ...FORGETFUL, advice: [] };
  readonly answer = deferred<void>();

  override connect(): Promise<void> {
    return this.answer.promise;
  }

  answers(guarantees = FORGETFUL): void {
    this.guarantees = guarantees;
    this.answer.resolve();
  }
}

const servicesOn = <B extends MemoryBackend>(backend: B) => {
  onTestFinished(() => backend.close());
  const options = { connectionName: 'default', service: 'shop', waitMs: 1_000, drainTimeoutMs: 1_000 } as const;
  const locks = new LockService(backend, { ...options, connectOnStart: 'required' });
  return { backend, locks, coordination: new CoordinationService(locks) };
};

describe('the guarantees of a backend', () => {
  it('are one line of the log at start', async () => {
    const { locks } = servicesOn(new MemoryBackend());
    await locks.onModuleInit();
    expect(lines).toEqual([
      'log: guarantees of memory: decided by this process; clocks: none; fail-over: ends with the process; ' +
        'writtenAt: writer; records and queues: end with the process; sets: any keys',
    ]);
  });

  it('are logged as the server that answers has them', async () => {
    const { backend, locks } = servicesOn(new ForgetfulBackend());
    const started = locks.onModuleInit();
    expect(lines).toEqual([]);
    backend.answers({ ...FORGETFUL, records: 'durable' });
    await started;
    expect(lines).toEqual([expect.stringContaining('records and queues: durable')]);
  });

  it('of ZooKeeper name a majority, and records that last', () => {
    const { guarantees } = zookeeper().create();
    expect(guarantees).toMatchObject({ decidedBy: 'a majority of servers', records: 'durable', failOver: 'goes on' });
  });
});

describe('on a server that can forget writes', () => {
  it('stock() warns once, and names the settings', async () => {
    const { backend, locks } = servicesOn(new ForgetfulBackend());
    backend.answers();
    locks.stock('coupons', { segments: 3 });
    locks.stock('seats', { segments: 3 });
    await settled();
    expect(lines).toEqual([
      'warn: stock(): the forgetful server can forget writes, so what was sold or taken may come back, and what was ' +
        'put may be gone: set appendonly to yes; set appendfsync to always',
    ]);
  });

  it('queue() warns, also when it is made before the server has answered', async () => {
    const { backend, coordination } = servicesOn(new ForgetfulBackend());
    coordination.queue('parcels');
    coordination.queue('parcels');
    await settled();
    expect(lines).toEqual([]);
    backend.answers();
    await settled();
    expect(lines).toEqual([expect.stringMatching(/^warn: queue\(\): .* set appendonly to yes/)]);
  });

  it('they say nothing when nothing is left to set, and nothing of locks', async () => {
    const { backend, locks, coordination } = servicesOn(new ForgetfulBackend());
    backend.answers({ ...FORGETFUL, advice: [] });
    locks.stock('coupons', { segments: 3 });
    coordination.queue('parcels');
    await settled();
    expect(lines).toEqual([]);
  });

  it('locks, counters and barriers do not warn', async () => {
    const { backend, locks, coordination } = servicesOn(new ForgetfulBackend());
    backend.answers();
    await locks.using('k', () => {});
    coordination.barrier('b');
    await settled();
    expect(lines).toEqual([]);
  });
});

describe('docs/backends.md', () => {
  const page = readFileSync(new URL('../../../docs/backends.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(?!guarantees)(\w+)` +\|(.*)\|$/gm)].map(
    ([, field = '', cells = '']) => [field, cells.split('|').map((cell) => cell.trim())] as const,
  );
  const backends = [zookeeper(), redis(), etcd(), memory()].map((definition) => definition.create());

  it('shows the guarantees of each backend as the code declares them', () => {
    const fields = Object.keys(FORGETFUL).filter((field) => field !== 'advice');
    const declared = fields.map((field) => [
      field,
      backends.map(({ guarantees }) => String(guarantees?.[field as keyof BackendGuarantees])),
    ]);
    expect(rows).toEqual(declared);
  });
});
