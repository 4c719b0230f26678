import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';

export interface PlaceOrder {
  readonly id: number;
  readonly cents: number;
}

/** The bank's record: it took the money between `from` and `to`. */
export interface Charge {
  readonly orderId: number;
  readonly cents: number;
  readonly from: number;
  readonly to: number;
}

const BANK_TAKES_MS = 100;
const REVIEW_TAKES_MS = 300;

@Injectable()
export class OrdersService {
  constructor(private readonly files: ShopFiles) {}

  /** Checks, then acts. This is correct only because no other call places this order in between. */
  @DistributedLock((order: PlaceOrder) => key`order/${order.id}`)
  async place(order: PlaceOrder): Promise<void> {
    const file = `orders/${order.id}`;
    if (await this.files.find(file)) throw new ConflictException('already placed');
    await this.charge(order);
    await this.files.write(file, order);
  }

  /** Takes a while, so that callers of one order queue up. */
  @DistributedLock((id: number) => key`order/${id}`)
  async review(id: number): Promise<void> {
    await pause(REVIEW_TAKES_MS);
    await this.files.append('reviews', { orderId: id, at: Date.now() });
  }

  /** Holds the order like a call to a bank that never answers. It ends when the key is revoked, as every work should. */
  @DistributedLock((id: number) => key`order/${id}`, { onLost: 'ignore' })
  async hang(id: number): Promise<void> {
    const { signal } = assertHeld();
    if (!signal.aborted) await once(signal, 'abort');
    await this.files.append('hung', { orderId: id, until: Date.now() });
  }

  private async charge({ id: orderId, cents }: PlaceOrder): Promise<void> {
    const from = Date.now();
    await pause(BANK_TAKES_MS);
    await this.files.append('charges', { orderId, cents, from, to: Date.now() } satisfies Charge);
  }
}
