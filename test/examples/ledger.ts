import type { Bank, Order } from './orders.service.js';

/** A bank of a test: it takes its time, and writes down what it was asked. */
export class Ledger implements Bank {
  readonly charges: string[] = [];
  /** The events while the bank thinks. */
  meanwhile: () => Promise<void> = async () => {};

  async isCharged({ id }: Order): Promise<boolean> {
    const isCharged = this.charges.includes(id);
    await this.meanwhile();
    return isCharged;
  }

  async charge({ id }: Order): Promise<void> {
    this.charges.push(id);
  }
}
