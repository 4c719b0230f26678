import { Body, Controller, Post } from '@nestjs/common';
import { TransfersService } from './transfers.service.js';

export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly euros: number;
}

@Controller('transfers')
export class TransfersController {
  constructor(private readonly transfers: TransfersService) {}

  @Post()
  async transfer(@Body() { from, to, euros }: Transfer): Promise<void> {
    await this.transfers.transfer(from, to, euros);
  }
}
