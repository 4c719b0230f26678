import { ConflictException, Injectable } from '@nestjs/common';
import { LockService } from 'nestjs-distributed-lock';
import type { SegmentedStock } from 'nestjs-distributed-lock';
import { CouponFiles } from './coupon-files.js';
import { SHELVES } from './coupon-shelf.js';

@Injectable()
export class CouponsService {
  private readonly coupons: SegmentedStock;

  constructor(locks: LockService, store: CouponFiles) {
    this.coupons = locks.stock('coupons', { segments: SHELVES, store });
  }

  /**
   * Hands out one coupon per guest; a repeated request returns the same one. Three guests are served concurrently, one
   * per segment.
   */
  async claim(guest: string): Promise<void> {
    const sale = await this.coupons.deduct(1, { orderId: guest });
    if (!sale) throw new ConflictException('none left');
  }
}
