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
}
