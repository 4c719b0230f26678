import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { DistributedLock, key } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';

const BOOKING_TAKES_MS = 5;

@Injectable()
export class TransfersService {
  constructor(private readonly files: ShopFiles) {}

  /** Locks both accounts or none. The order of the keys does not matter: they are always locked in the same order. */
  @DistributedLock((from: string, to: string) => [key`account/${from}`, key`account/${to}`])
  async transfer(from: string, to: string, euros: number): Promise<void> {
    const source = await this.files.read<number>(`accounts/${from}`);
    const target = await this.files.read<number>(`accounts/${to}`);
    if (source < euros) throw new ConflictException('not enough money');
    await pause(BOOKING_TAKES_MS);
    await this.files.write(`accounts/${from}`, source - euros);
    await this.files.write(`accounts/${to}`, target + euros);
  }
}
