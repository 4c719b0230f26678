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

  /** One for each guest: asked again, the same one. Three guests are served at a time, one from each segment. */
  async claim(guest: string): Promise<void> {
    const sale = await this.coupons.deduct(1, { orderId: guest });
    if (!sale) throw new ConflictException('none left');
  }
}
