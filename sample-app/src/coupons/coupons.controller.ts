import { Body, Controller, Post } from '@nestjs/common';
import { CouponsService } from './coupons.service.js';

@Controller('coupons')
export class CouponsController {
  constructor(private readonly coupons: CouponsService) {}

  @Post('claim')
  async claim(@Body() { guest }: { readonly guest: string }): Promise<void> {
    await this.coupons.claim(guest);
  }
}
