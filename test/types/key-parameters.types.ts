/** The types that the compiler infers for the parameters of key functions. Nothing here runs; `tsc` is the test. */
import { DistributedLock, SegmentLock, Semaphore } from '../../lib/index.js';

interface Order {
  readonly id: string;
  readonly items?: readonly string[];
}

export class Inferred {
  @DistributedLock<Parameters<Inferred['place']>>((order) => `order/${order.id.trim()}`)
  async place(_order: Order) {}

  @DistributedLock<Parameters<Inferred['placeMany']>>((...orders) => orders.map(({ id }) => id))
  async placeMany(..._orders: Order[]) {}

  @DistributedLock<Parameters<Inferred['find']>>((id) => id?.trim() ?? 'all')
  async find(_id?: string) {}

  // The second type is that of `onContention`: TypeScript infers all of the types or none.
  @DistributedLock<Parameters<Inferred['mayBeSkipped']>, 'skip'>((order) => order.id, { onContention: 'skip' })
  async mayBeSkipped(_order: Order): Promise<number | undefined> {
    return 1;
  }

  @Semaphore<Parameters<Inferred['render']>>(({ id }) => id, { permits: 4 })
  async render(_order: Order) {}

  @SegmentLock<Parameters<Inferred['take']>, Parameters<Inferred['take']>>({
    key: ({ id }) => id,
    segments: 4,
    routeBy: (_order, customer) => customer,
  })
  async take(_order: Order, _customer: string) {}

  @DistributedLock<Parameters<Inferred['hidden']>>((order) => order.id)
  private async hidden(_order: Order) {}

  async run() {
    await this.hidden({ id: '1' });
  }
}

export class NotInferred {
  // @ts-expect-error the parameter is unknown: a decorator is checked before the method below it
  @DistributedLock((order) => order.id)
  async place(_order: Order) {}

  // @ts-expect-error the second type is missing, so it is 'throw'
  @DistributedLock<Parameters<NotInferred['skipped']>>((order) => order.id, { onContention: 'skip' })
  async skipped(_order: Order): Promise<number | undefined> {
    return 1;
  }

  // @ts-expect-error the parameters of another method
  @DistributedLock<Parameters<Inferred['place']>>((order) => order.id)
  async other(_id: string) {}
}
