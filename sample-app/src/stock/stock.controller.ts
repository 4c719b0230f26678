import { Controller, Post } from '@nestjs/common';
import { StockService } from './stock.service.js';

@Controller('stock')
export class StockController {
  constructor(private readonly stock: StockService) {}

  @Post('buy')
  async buy(): Promise<void> {
    await this.stock.takeOne();
  }
}
