import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { PutBackRequest, SegmentStore, TakeRequest } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { shelfFile } from './coupon-shelf.js';
import type { CouponShelf } from './coupon-shelf.js';

const PRINTING_TAKES_MS = 3;

/**
 * The coupons, one file per segment. A call reads, prints and writes; only the segment's lock protects the steps
 * between.
 */
@Injectable()
export class CouponFiles implements SegmentStore {
  constructor(private readonly files: ShopFiles) {}

  async take({ segment, orderId, want, atLeast, fencingToken }: TakeRequest): Promise<number> {
    const shelf = await this.shelf(segment, fencingToken);
    const units = Math.min(want, shelf.left);
    if (units < atLeast) return 0;
    await pause(PRINTING_TAKES_MS);
    const taken = { ...shelf.taken, [orderId]: units };
    await this.write(segment, { left: shelf.left - units, token: String(fencingToken), taken });
    return units;
  }

  async putBack({ segment, orderId, fencingToken }: PutBackRequest): Promise<number> {
    const shelf = await this.shelf(segment, fencingToken);
    const { [orderId]: units = 0, ...taken } = shelf.taken;
    await this.write(segment, { left: shelf.left + units, token: String(fencingToken), taken });
    return units;
  }

  private async shelf(segment: number, fencingToken: bigint): Promise<CouponShelf> {
    const shelf = await this.files.read<CouponShelf>(shelfFile(segment));
    if (BigInt(shelf.token) > fencingToken) throw new Error('somebody else has been here since');
    return shelf;
  }

  private write(segment: number, shelf: CouponShelf): Promise<void> {
    return this.files.write(shelfFile(segment), shelf);
  }
}
