import { Inject, Injectable } from '@nestjs/common';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';

export interface Order {
  readonly id: string;
  readonly cents: number;
}

/** Where the money is. */
export interface Bank {
  isCharged(order: Order): Promise<boolean>;
  charge(order: Order, fencingToken: bigint): Promise<void>;
}

@Injectable()
export class OrdersService {
  constructor(@Inject('BANK') private readonly bank: Bank) {}

  /** Charges an order once, however often and wherever it is called. */
  @DistributedLock((order: Order) => key`order/${order.id}`, { waitMs: 5_000 })
  async place(order: Order): Promise<boolean> {
    if (await this.bank.isCharged(order)) return false;
    const { fencingToken } = assertHeld();
    await this.bank.charge(order, fencingToken);
    return true;
  }
}
