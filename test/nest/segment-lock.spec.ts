import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { hash } from '../../lib/composite/segment-route.js';
import { deferred } from '../../lib/async/deferred.js';
import { currentLease, currentSegment, LockService, LockTimeoutError, SegmentLock } from '../../lib/index.js';
import type { SegmentLockOptions } from '../../lib/index.js';
import { startApp } from './app.js';

type Inside = (segment: number) => unknown;
type AnyOptions = SegmentLockOptions<unknown[], unknown[]>;

@Injectable()
class Warehouse {
  private readonly shelf = 'stock';

  @SegmentLock({ key: (sku: string) => `stock/${sku}`, segments: 4, waitMs: 1 })
  async deduct(_sku: string, during: Inside = () => {}): Promise<number | undefined> {
    await during(currentSegment()?.segment ?? -1);
    return currentSegment()?.segment;
  }

  @SegmentLock({
    key: (sku: string) => `stock/${sku}`,
    segments: 4,
    route: 'hash',
    routeBy: (_sku: string, customer: string | number) => customer,
    label: 'by customer',
  })
  async deductFor(_sku: string, _customer: string | number): Promise<unknown> {
    return [currentLease() === currentSegment(), currentSegment()?.segment, currentSegment()?.segments];
  }

  @SegmentLock({
    key(this: Warehouse, sku: string) {
      return `${this.shelf}/${sku}`;
    },
    segments: 1,
    onContention: 'skip',
  })
  async recount(_sku: string, during: Inside): Promise<string | undefined> {
    await during(0);
    return 'recounted';
  }

  @SegmentLock({ key: 'stock/a', segments: 4 })
  async outer(): Promise<unknown> {
    return [currentSegment()?.segment, await this.deduct('a')];
  }

  @SegmentLock({ key: 'feed', segments: 2 })
  feed(): Observable<number | undefined> {
    return new Observable((subscriber) => subscriber.next(currentSegment()?.segment));
  }
}

async function startWarehouse() {
  const { app, backend } = await startApp({ providers: [Warehouse] });
  return { warehouse: app.get(Warehouse), locks: app.get(LockService), backend };
}

describe('@SegmentLock', () => {
  it('runs as many concurrent calls as there are segments, each in its own', async () => {
    const { warehouse, backend } = await startWarehouse();
    const [allIn, mayLeave] = [deferred(), deferred()];
    const inside: number[] = [];
    const work = (segment: number) => {
      if (inside.push(segment) === 4) allIn.resolve();
      return mayLeave.promise;
    };
    const calls = Array.from({ length: 4 }, () => warehouse.deduct('a', work));
    await allIn.promise;
    expect(new Set(inside)).toEqual(new Set([0, 1, 2, 3]));
    await expect(warehouse.deduct('a')).rejects.toMatchObject({ name: 'LockTimeoutError', key: 'stock/a', waitMs: 1 });
    expect(await warehouse.deduct('b')).toBeLessThan(4);
    mayLeave.resolve();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(inside));
    expect(backend.busyKeys).toEqual([]);
  });

  it('routes by the arguments, and labels the contender', async () => {
    const { warehouse, backend } = await startWarehouse();
    for (const customer of ['x', 'y', 7]) {
      expect(await warehouse.deductFor('a', customer)).toEqual([true, hash(customer) % 4, 4]);
    }
    expect(new Set(backend.requests.map(({ label }) => label))).toEqual(new Set(['by customer']));
  });

  it('shares the segment between nested methods', async () => {
    const { warehouse, backend } = await startWarehouse();
    const [outer, inner] = (await warehouse.outer()) as number[];
    expect([inner, backend.requests.length]).toEqual([outer, 1]);
    expect(backend.requests[0]?.label).toBe('Warehouse.outer');
  });

  it('skips on request, and calls the key function with the instance', async () => {
    const { warehouse } = await startWarehouse();
    const result = warehouse.recount('z', () => expect(warehouse.recount('y', () => {})).resolves.toBe('recounted'));
    expect(await result).toBe('recounted');
    const [began, mayLeave] = [deferred(), deferred()];
    const first = warehouse.recount('z', () => (began.resolve(), mayLeave.promise));
    await began.promise;
    expect(await warehouse.recount('z', () => expect.unreachable())).toBeUndefined();
    mayLeave.resolve();
    await first;
  });

  it('holds the segment until a stream has ended', async () => {
    const { warehouse, locks, backend } = await startWarehouse();
    const seen = deferred<number | undefined>();
    const subscription = warehouse.feed().subscribe((segment) => seen.resolve(segment));
    const segment = await seen.promise;
    await using free = await locks.segmented('feed', { segments: 2 }).tryAcquire();
    expect(free?.segment).toBe(1 - (segment ?? -1));
    subscription.unsubscribe();
    await backend.standing(`feed/#000${segment}`, 0);
  });

  it('works beside the service, under the recorded count', async () => {
    const { warehouse, locks } = await startWarehouse();
    await locks.segmented('stock/a', { segments: 4 }).withAll(async () => {
      await expect(warehouse.deduct('a', (segment) => expect(segment).toBeLessThan(4))).resolves.toBeDefined();
    });
    await locks.segmented('stock/a', { segments: 4 }).resize(1);
    expect(await warehouse.deduct('a')).toBe(0);
    await using _held = await locks.segmented('stock/a', { segments: 1 }).acquire();
    await expect(warehouse.deduct('a')).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it('reports a wrong value of a call, and does not run it', async () => {
    const { warehouse, backend } = await startWarehouse();
    await expect(warehouse.deductFor('a', Number.NaN)).rejects.toThrow(
      '@SegmentLock on Warehouse.deductFor: routeBy must be a string or a finite number, got the number NaN',
    );
    expect(backend.requests).toEqual([]);
  });

  it.each<[object, string]>([
    [{ segments: 4 }, 'the key must be text that is not empty, got undefined'],
    [{ key: 'k' }, 'segments must be a whole number from 1 to 1024, got undefined'],
    [{ key: 'k', segments: 2_000 }, 'segments must be a whole number from 1 to 1024, got the number 2000'],
    [{ key: 'k', segments: 4, route: 'hash' }, 'routeBy must be a function of the arguments, got undefined'],
    [{ key: 'k', segments: 4, routeBy: 'customer' }, 'routeBy must be a function of the arguments, got the string'],
    [{ key: 'k', segments: 4, route: 'any', routeBy: () => 1 }, `route must be 'free' or 'hash', got the string "any"`],
    [{ key: 'k', segments: 4, waitMs: -1 }, 'waitMs must be a number of milliseconds, 0 or more'],
    [{ key: 'k', segments: 4, line: 'none' }, 'unknown field "line"'],
  ])('refuses %j at decoration, naming the place', (options, message) => {
    const decorate = () => {
      class Wrong {
        @SegmentLock(options as AnyOptions)
        async method(): Promise<void> {}
      }
      return Wrong;
    };
    expect(decorate).toThrow('@SegmentLock on Wrong.method');
    expect(decorate).toThrow(message);
  });
});
