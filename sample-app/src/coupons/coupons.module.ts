import { Module } from '@nestjs/common';
import { CouponFiles } from './coupon-files.js';
import { CouponsController } from './coupons.controller.js';
import { CouponsService } from './coupons.service.js';

@Module({ controllers: [CouponsController], providers: [CouponsService, CouponFiles] })
export class CouponsModule {}
