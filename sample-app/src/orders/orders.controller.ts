import { Body, Controller, Param, ParseIntPipe, Post } from '@nestjs/common';
import { OrdersService } from './orders.service.js';
import type { PlaceOrder } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post(':id/place')
  async place(@Param('id', ParseIntPipe) id: number, @Body() { cents }: Pick<PlaceOrder, 'cents'>): Promise<void> {
    await this.orders.place({ id, cents });
  }

  @Post(':id/review')
  async review(@Param('id', ParseIntPipe) id: number): Promise<void> {
    await this.orders.review(id);
  }

  @Post(':id/hang')
  async hang(@Param('id', ParseIntPipe) id: number): Promise<void> {
    await this.orders.hang(id);
  }
}
