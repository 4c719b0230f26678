import { setTimeout as pause } from 'node:timers/promises';
import { Body, Controller, Get, Put } from '@nestjs/common';
import { ReadLock, WriteLock } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { grossOf } from './prices.js';
import type { Prices } from './prices.js';

const WRITING_TAKES_MS = 15;
const READING_TAKES_MS = 5;

/** Locks can be set on handlers as well as on services; here they are directly below the route. */
@Controller('prices')
export class PricesController {
  constructor(private readonly files: ShopFiles) {}

  /** Runs concurrently with any number of other readers, never while a writer holds the lock. */
  @Get()
  @ReadLock('prices')
  async quote(): Promise<Prices> {
    const net = await this.files.read<number>('prices/net');
    await pause(READING_TAKES_MS);
    const gross = await this.files.read<number>('prices/gross');
    return { net, gross };
  }

  /** Runs alone. */
  @Put()
  @WriteLock('prices')
  async reprice(@Body() { net }: Pick<Prices, 'net'>): Promise<void> {
    await this.files.write('prices/net', net);
    await pause(WRITING_TAKES_MS);
    await this.files.write('prices/gross', grossOf(net));
  }
}
