import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { DistributedLock, key } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { GlobalTransaction } from './global-transaction.js';
import { rowsOf } from './trip.js';
import type { Trip } from './trip.js';

const BANK_TAKES_MS = 5;

@Injectable()
export class TripsService {
  constructor(private readonly files: ShopFiles) {}

  /** The rows stay locked until the transaction has been committed, or rolled back. */
  @DistributedLock((trip: Trip) => [key`row/seats/${trip.flight}`, key`row/wallets/${trip.guest}`])
  async book(trip: Trip): Promise<void> {
    const transaction = new GlobalTransaction(this.files);
    const [seats, wallet] = rowsOf(trip);
    try {
      await transaction.change(seats, -1);
      await transaction.change(wallet, -trip.euros);
      await pause(BANK_TAKES_MS);
      if (trip.isRefused) throw new ConflictException('refused by the bank');
    } catch (error) {
      await transaction.rollBack();
      throw error;
    }
  }
}
