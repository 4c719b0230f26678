/** The methods with `@SegmentLock` that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { currentSegment, SegmentLock } from '../../lib/index.js';
import type { Lock, LockService, SegmentLease } from '../../lib/index.js';

declare const locks: LockService;

export class Accepted {
  private readonly shelf = 'stock';

  @SegmentLock({ key: 'stock', segments: 16 })
  async plain() {}

  @SegmentLock({ key: (sku: string) => `stock/${sku}`, segments: 16 })
  async byArgument(_sku: string, _more?: number) {}

  @SegmentLock({ key: (sku: string) => sku, segments: 4, routeBy: (_sku: string, customer: number) => customer })
  async byTwo(_sku: string, _customer: number) {}

  @SegmentLock({ key: 'stock', segments: 4, route: 'hash', routeBy: (customer: { id: string }) => customer.id })
  async byHash(_customer: { id: string; name: string }) {}

  @SegmentLock({
    key(this: Accepted, sku: string) {
      return `${this.shelf}/${sku}`;
    },
    segments: 4,
    waitMs: 5,
    onContention: 'skip',
    onLost: 'ignore',
    label: 'l',
    reentrant: false,
    connection: 'other',
  })
  async skipped(_sku: string): Promise<number | undefined> {
    const held: SegmentLease | undefined = currentSegment();
    return held?.segment;
  }

  @SegmentLock({ key: 'feed', segments: 2 })
  async *generated() {
    yield 1;
  }
}

export class Refused {
  // @ts-expect-error a sync method cannot wait for a lock
  @SegmentLock({ key: 'stock', segments: 16 })
  sync() {
    return 1;
  }

  // @ts-expect-error without a number of segments
  @SegmentLock({ key: 'stock' })
  async uncounted() {}

  // @ts-expect-error without a key
  @SegmentLock({ segments: 16 })
  async unkeyed() {}

  // @ts-expect-error several keys are for DistributedLock only
  @SegmentLock({ key: ['a', 'b'], segments: 16 })
  async several() {}

  // @ts-expect-error the key function takes another type
  @SegmentLock({ key: (id: number) => `stock/${id}`, segments: 16 })
  async wrongKey(_id: string) {}

  // @ts-expect-error the routeBy function takes another type
  @SegmentLock({ key: (id: string) => id, segments: 16, routeBy: (id: number) => id })
  async wrongRoute(_id: string) {}

  // @ts-expect-error the routeBy function takes more than the method
  @SegmentLock({ key: 'stock', segments: 16, routeBy: (a: string, b: string) => a + b })
  async tooMany(_a: string) {}

  // @ts-expect-error the key function is checked beside a routeBy function that fits
  @SegmentLock({ key: (id: number) => `stock/${id}`, segments: 16, routeBy: (id: string) => id })
  async oneOfTwo(_id: string) {}

  // @ts-expect-error an object cannot be a routeBy value
  @SegmentLock({ key: 'stock', segments: 16, routeBy: (customer: object) => customer })
  async byObject(_customer: object) {}

  // @ts-expect-error route 'hash' needs a routeBy function
  @SegmentLock({ key: 'stock', segments: 16, route: 'hash' })
  async byNothing() {}

  // @ts-expect-error a skipped call resolves to undefined
  @SegmentLock({ key: 'stock', segments: 16, onContention: 'skip' })
  async skipped(): Promise<number> {
    return 1;
  }

  // @ts-expect-error an unknown option
  @SegmentLock({ key: 'stock', segments: 16, waitMS: 5 })
  async misspelt() {}

  // @ts-expect-error a segment always has a wait queue
  @SegmentLock({ key: 'stock', segments: 16, line: 'none' })
  async withoutLine() {}
}

export async function byService(): Promise<number> {
  const stock = locks.segmented('stock', { segments: 16, route: 'hash' });
  const asAnyLock: Lock = stock;
  await asAnyLock.using(() => {});
  const lease: SegmentLease = await stock.acquire({ routeBy: 'x', only: [1, 2], waitMs: 5 });
  const maybe: SegmentLease | null = await stock.tryAcquire();
  await stock.withAll((leases: readonly SegmentLease[]) => leases.length, { waitMs: 5 });
  await stock.resize(8, async ({ from, to, leases, signal }) => void [from, to, leases, signal]);
  // @ts-expect-error withAll() has no route
  await stock.withAll(() => {}, { routeBy: 'x' });
  // @ts-expect-error no such route
  locks.segmented('stock', { segments: 16, route: 'random' });
  return stock.using(({ segment, segments }) => segment + segments + lease.segment + (maybe?.segment ?? 0));
}
