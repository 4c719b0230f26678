import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  CronRunsService,
  currentLease,
  DistributedLock,
  getLockServiceToken,
  LockConfigurationError,
  LockLostError,
  LockModule,
  LockService,
  LockTimeoutError,
  LockUnavailableError,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
  zookeeper,
} from '../../lib/index.js';
import { getLockTestingToken, InjectLockTesting, LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import type { LockTestingModuleOptions } from '../../lib/testing/index.js';
import { started } from './app.js';

@Injectable()
class Orders {
  readonly placed: string[] = [];

  @DistributedLock((id: string) => `order/${id}`, { waitMs: 5_000 })
  async place(id: string) {
    this.placed.push(id);
    return currentLease();
  }

  @DistributedLock('nightly', { onContention: 'skip' })
  async skippable(): Promise<string | undefined> {
    return 'ran';
  }

  @DistributedLock((...ids: string[]) => ids.map((id) => `order/${id}`))
  async placeAll(..._ids: string[]) {
    return currentLease()?.key;
  }

  @ReadLock('prices')
  async quote() {
    return this.reread();
  }

  @ReadLock('prices')
  async reread() {
    return 'read';
  }

  @WriteLock('prices')
  async reprice() {}

  @SegmentLock({ key: 'stock', segments: 2 })
  async take() {}

  @Semaphore('pdf', { permits: 2 })
  async render() {
    return 'pdf';
  }

  @DistributedLock('kept', { keepMs: 1_000 })
  async kept() {
    return 'kept';
  }

  @DistributedLock('work')
  async workUntil(end: Promise<unknown>) {
    const lease = currentLease();
    await end;
    return lease?.state;
  }
}

async function start(options: LockTestingModuleOptions = {}) {
  const imports = [LockTestingModule.forRoot(options)];
  const app = await started(Test.createTestingModule({ imports, providers: [Orders] }).compile());
  return { app, orders: app.get(Orders), locks: app.get(LockTesting), service: app.get(LockService) };
}

const eventsOf = (locks: LockTesting, key: string) => locks.journal.where({ key }).map(({ event }) => event);

describe('LockTestingModule', () => {
  it('runs decorated methods under locks in memory, with the services of LockModule', async () => {
    const { app, orders, service } = await start();
    expect(await orders.place('42')).toMatchObject({ key: 'order/42' });
    expect(await orders.placeAll('1', '2')).toContain('order/1');
    expect(await orders.skippable()).toBe('ran');
    expect(await orders.kept()).toBe('kept');
    await orders.take();
    expect(service.connectionName).toBe('default');
    expect(await app.get(CronRunsService).list()).toEqual([]);
  });

  it('excludes as LockModule does', async () => {
    const { service } = await start();
    await using _held = await service.acquire('order/42');
    expect(await service.tryAcquire('order/42')).toBeNull();
    expect(await service.tryAcquire('/locks/order/42')).toBeNull();
    expect(await service.tryAcquire('order/43')).not.toBeNull();
  });

  it('accepts the options of LockModule', async () => {
    const { service } = await start({ waitMs: 0, localLine: false });
    await using _held = await service.acquire('a');
    await expect(service.acquire('a')).rejects.toMatchObject({ waitMs: 0 });
  });

  it('refuses a key that the servers would refuse', async () => {
    const { orders } = await start();
    await expect(orders.place('..')).rejects.toThrow(LockConfigurationError);
    expect(orders.placed).toEqual([]);
  });

  it('can be imported several times under different names', async () => {
    const imports = [LockTestingModule.forRoot(), LockTestingModule.forRoot({ name: 'stock', mode: 'contended' })];
    @Injectable()
    class Both {
      @InjectLockTesting('stock') readonly stock!: LockTesting;

      constructor(readonly main: LockTesting) {}
    }
    const app = await started(Test.createTestingModule({ imports, providers: [Both] }).compile());
    expect(app.get(Both).main).toBe(app.get(LockTesting));
    expect(app.get(Both).stock).toBe(app.get(getLockTestingToken('stock')));
    const stock = app.get<LockService>(getLockServiceToken('stock'));
    expect(stock.connectionName).toBe('stock');
    expect(await app.get(LockService).tryAcquire('a')).not.toBeNull();
    expect(await stock.tryAcquire('a')).toBeNull();
    expect(app.get(Both).main.journal.where({ event: 'acquired' })).toHaveLength(1);
    expect(app.get(Both).stock.journal.where({ event: 'acquired' })).toEqual([]);
  });

  it('gives every application separate locks, even when one registration is used twice', async () => {
    const metadata = { imports: [LockTestingModule.forRoot()] };
    const [one, other] = await Promise.all([1, 2].map(() => started(Test.createTestingModule(metadata).compile())));
    await using _held = await one!.get(LockService).acquire('a');
    expect(await other!.get(LockService).tryAcquire('a')).not.toBeNull();
    expect(one!.get(LockTesting)).not.toBe(other!.get(LockTesting));
  });

  it.each([
    [{ mode: 'busy' as never }, /mode must be 'free', 'contended' or 'unavailable'/],
    [{ keys: ['a'] }, /keys must be undefined, unless mode is 'contended'/],
    [{ mode: 'contended', keys: 'a' as never }, /keys must be an array/],
    [{ longestWaitMs: -1 }, /longestWaitMs must be/],
    [{ waitMs: -1 }, /waitMs must be/],
    [
      { moed: 'free' } as never,
      /LockTestingModule options: unknown field "moed" \(known: mode, keys, longestWaitMs, service, waitMs/,
    ],
    [{ backend: {} } as never, /unknown field "backend"/],
  ] as const)('refuses %j', async (options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });
});

describe('replaceIn', () => {
  @Module({
    imports: [
      LockModule.forRootAsync({
        useFactory: async () => ({
          backend: zookeeper({ connectString: '127.0.0.1:1' }),
          waitMs: 7,
          drainTimeoutMs: 0,
        }),
      }),
    ],
    providers: [Orders],
  })
  class AppModule {}

  it('lets an application start without servers, with its other options unchanged', async () => {
    const locks = new LockTesting();
    const app = await started(locks.replaceIn(Test.createTestingModule({ imports: [AppModule] })).compile());
    locks.contend('a');
    await expect(app.get(LockService).acquire('a')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 7 });
    expect(await app.get(Orders).place('42')).toBeDefined();
    expect(locks.journal.where({ key: 'order/42', event: 'acquired' })).toHaveLength(1);
  });

  it('keeps the application from starting while no server answers, as its own options require', async () => {
    const locks = new LockTesting({ mode: 'unavailable' });
    const start = started(locks.replaceIn(Test.createTestingModule({ imports: [AppModule] })).compile());
    await expect(start).rejects.toThrow(LockUnavailableError);
  });

  it('serves one application', async () => {
    const locks = new LockTesting();
    await started(locks.replaceIn(Test.createTestingModule({ imports: [AppModule] })).compile());
    const again = started(locks.replaceIn(Test.createTestingModule({ imports: [AppModule] })).compile());
    await expect(again).rejects.toThrow(/serves one application/);
  });
});

describe('a foreign contender', () => {
  it('holds a key until the test releases it', async () => {
    const { orders, locks } = await start();
    const other = locks.contend('order/42');
    await other.held;
    const placing = orders.place('42');
    await locks.journal.seen({ event: 'asked', key: 'order/42' });
    expect(orders.placed).toEqual([]);
    expect(other.isHolding).toBe(true);
    await other.letGo();
    await placing;
    expect(orders.placed).toEqual(['42']);
    expect(other.isHolding).toBe(false);
  });

  it('waits behind the application, and before its next call', async () => {
    const { service, locks } = await start({ localLine: false });
    const lease = await service.acquire('a');
    const other = locks.contend('a');
    const next = service.acquire('a');
    expect(await service.contenders('a')).toMatchObject([
      { state: 'held', isOwn: true },
      { state: 'waiting', isOwn: false, owner: { label: 'somebody else' } },
      { state: 'waiting', isOwn: true },
    ]);
    await lease.release();
    await other.held;
    await locks.letGo('a');
    expect((await next).isHeld()).toBe(true);
  });

  it('may read concurrently, and leave the queue', async () => {
    const { orders, locks, service } = await start({ longestWaitMs: 5 });
    const reader = locks.contend('prices', 'read');
    expect(await orders.quote()).toBe('read');
    const writer = locks.contend('prices', 'write');
    await expect(orders.reprice()).rejects.toThrow(LockTimeoutError);
    await writer.letGo();
    await expect(writer.held).rejects.toThrow('does not want "prices" any more');
    await reader.letGo();
    await orders.reprice();
    expect(await service.contenders('prices')).toEqual([]);
  });

  it('holds every requested key with mode contended, until the test releases it', async () => {
    const { orders, locks } = await start({ mode: 'contended', longestWaitMs: 5 });
    await expect(orders.place('42')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 5 });
    expect(await orders.skippable()).toBeUndefined();
    await expect(orders.render()).rejects.toThrow(LockTimeoutError);
    await locks.letGo('order/42');
    await orders.place('42');
    await expect(orders.place('43')).rejects.toThrow(LockTimeoutError);
    await locks.letGo();
    await orders.place('43');
    await orders.place('44');
    expect(orders.placed).toEqual(['42', '43', '44']);
  });

  it('holds only the given keys', async () => {
    const { orders } = await start({ mode: 'contended', keys: ['order/42'], longestWaitMs: 5 });
    await orders.place('1');
    await expect(orders.place('42')).rejects.toThrow(LockTimeoutError);
    expect(orders.placed).toEqual(['1']);
  });
});

describe('servers that do not answer', () => {
  it('grant nothing, and no method runs', async () => {
    const { app, orders, service } = await start({ mode: 'unavailable' });
    await expect(orders.place('42')).rejects.toThrow(LockUnavailableError);
    await expect(orders.skippable()).rejects.toThrow(LockUnavailableError);
    await expect(service.contenders('order/42')).rejects.toThrow(LockUnavailableError);
    await expect(service.revoke('order/42')).rejects.toThrow(LockUnavailableError);
    await expect(app.get(CronRunsService).list()).rejects.toThrow(LockUnavailableError);
    expect(service.state).toBe('suspended');
    expect(orders.placed).toEqual([]);
  });

  it('keep an application from starting that requires them', async () => {
    await expect(start({ mode: 'unavailable', connectOnStart: 'required' })).rejects.toThrow(LockUnavailableError);
  });

  it.each([true, false])('suspend held leases, and may become reachable again (localLine: %s)', async (localLine) => {
    const { service, locks } = await start({ localLine });
    const lease = await service.acquire('a');
    const waiting = service.acquire('a', { waitMs: 5 });
    locks.unavailable();
    expect([lease.state, lease.isHeld(), service.state]).toEqual(['suspended', true, 'suspended']);
    await expect(waiting).rejects.toThrow(LockUnavailableError);
    await expect(service.acquire('b')).rejects.toThrow(LockUnavailableError);
    locks.available();
    expect([lease.state, service.state]).toEqual(['held', 'connected']);
    expect(await service.tryAcquire('b')).not.toBeNull();
    expect(eventsOf(locks, 'a')).toEqual(['asked', 'acquired', 'asked', 'suspended', 'unavailable', 'resumed']);
  });
});

describe('a lost lease', () => {
  it.each([true, false])('aborts its signal, and the next caller gets the key (localLine: %s)', async (localLine) => {
    const { service, locks } = await start({ localLine });
    const lease = await service.acquire('a');
    const next = service.acquire('a');
    locks.loseLease('a');
    expect(lease.state).toBe('lost');
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(eventsOf(locks, 'a')).toEqual(['asked', 'acquired', 'asked', 'lost', 'acquired']);
  });

  it('is reported to the caller of a decorated method when that has ended', async () => {
    const { orders, locks } = await start();
    const lost = locks.journal.next({ event: 'lost' });
    const working = orders.workUntil(lost);
    await locks.journal.seen({ event: 'acquired', key: 'work' });
    locks.loseLease('work');
    await expect(working).rejects.toThrow(LockLostError);
    expect(await lost).toMatchObject({ key: 'work', label: 'Orders.workUntil', error: expect.any(LockLostError) });
    expect(eventsOf(locks, 'work')).toEqual(['asked', 'acquired', 'lost']);
  });

  it('frees the key at once, even while the method continues', async () => {
    const { orders, locks } = await start();
    let end = () => {};
    const working = expect(orders.workUntil(new Promise<void>((resolve) => (end = resolve)))).rejects;
    await locks.journal.seen({ event: 'acquired', key: 'work' });
    locks.loseLease('work');
    await locks.contend('work').held;
    end();
    await working.toThrow(LockLostError);
  });

  it('must be a lease that the application holds', async () => {
    const { locks } = await start();
    locks.contend('a');
    expect(() => locks.loseLease('a')).toThrow('the application does not hold "a"');
    expect(() => locks.loseLease('b')).toThrow(LockConfigurationError);
  });
});

describe('the journal', () => {
  it('contains all acquisitions with their labels, in order', async () => {
    const { orders, service, locks } = await start();
    await orders.place('42');
    await orders.quote();
    const { fencingToken } = await service.acquire('a', { label: 'by hand' });
    const rows = locks.journal.entries.map(({ order, event, key, mode, label }) =>
      [order, event, key, mode, label].join(' '),
    );
    expect(rows).toEqual([
      '1 asked order/42 exclusive Orders.place',
      '2 acquired order/42 exclusive Orders.place',
      '3 released order/42 exclusive Orders.place',
      // The call of reread() by quote() is no second acquisition.
      '4 asked prices read Orders.quote',
      '5 acquired prices read Orders.quote',
      '6 released prices read Orders.quote',
      '7 asked a exclusive by hand',
      '8 acquired a exclusive by hand',
    ]);
    expect(locks.journal.entries.at(-1)).toMatchObject({ fencingToken });
  });

  it.each([true, false])('distinguishes the callers of one key (localLine: %s)', async (localLine) => {
    const { orders, locks } = await start({ localLine });
    await Promise.all([orders.place('1'), orders.place('1')]);
    expect(eventsOf(locks, 'order/1')).toEqual(['asked', 'asked', 'acquired', 'released', 'acquired', 'released']);
  });

  it('contains each of several keys, and the segment', async () => {
    const { orders, locks } = await start();
    await orders.render();
    expect(locks.journal.where({ mode: 'permit' }).map(({ event }) => event)).toEqual([
      'asked',
      'acquired',
      'released',
    ]);
    locks.journal.clear();
    await orders.placeAll('2', '1');
    await orders.take();
    expect(locks.journal.where({ event: 'acquired' }).map(({ key }) => key)).toEqual([
      'order/1',
      'order/2',
      expect.stringMatching(/^stock\//),
    ]);
    expect(locks.journal.where({ event: 'released' })).toHaveLength(3);
  });

  it('contains the end of acquisitions without a lease', async () => {
    const { service, locks } = await start();
    locks.contend('a');
    await service.tryAcquire('a');
    await expect(service.acquire('a', { waitMs: 5 })).rejects.toThrow(LockTimeoutError);
    await expect(service.using('a', () => {}, { waitMs: 5 })).rejects.toThrow(LockTimeoutError);
    const reason = new Error('the customer left');
    const leaving = new AbortController();
    const waiting = expect(service.acquire('a', { signal: leaving.signal })).rejects;
    leaving.abort(reason);
    await waiting.toBe(reason);
    const ends = locks.journal.entries.filter(({ event }) => event !== 'asked');
    expect(ends.map(({ event }) => event)).toEqual(['timed out', 'timed out', 'timed out', 'failed']);
    expect(ends.at(-1)?.error).toBe(reason);
  });

  it('can be cleared', async () => {
    const { orders, locks } = await start();
    await orders.place('1');
    locks.journal.clear();
    await orders.place('2');
    expect(locks.journal.entries.map(({ order, key }) => [order, key])).toEqual([4, 5, 6].map((n) => [n, 'order/2']));
  });
});

it('failed work is not journalled as a failed acquisition', async () => {
  const { service, locks } = await start();
  await expect(service.using('a', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  expect(eventsOf(locks, 'a')).toEqual(['asked', 'acquired', 'released']);
});
