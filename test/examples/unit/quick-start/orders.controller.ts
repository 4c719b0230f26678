import { Controller, Param, Post } from '@nestjs/common';
import { OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post(':id/pay')
  pay(@Param('id') id: string) {
    return this.orders.pay(id);
  }
}
