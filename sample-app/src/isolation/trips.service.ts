import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { key, LockService } from 'nestjs-distributed-lock';
import type { GlobalTransaction } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { rowsOf } from './trip.js';
import type { Trip } from './trip.js';

const COMMIT_TAKES_MS = 3;
const BANK_TAKES_MS = 5;

@Injectable()
export class TripsService {
  constructor(
    private readonly locks: LockService,
    private readonly files: ShopFiles,
  ) {}

  /** Books a trip. The rows stay locked until both changes are final, or both have been undone. */
  async book(trip: Trip): Promise<void> {
    const [seats, wallet] = rowsOf(trip);
    await this.locks.globalTransaction(async (transaction) => {
      await transaction.lock([key`row/seats/${trip.flight}`, key`row/wallets/${trip.guest}`]);
      await this.change(transaction, seats, -1);
      await this.change(transaction, wallet, -trip.euros);
      await pause(BANK_TAKES_MS);
      if (trip.isRefused) throw new ConflictException('refused by the bank');
    });
  }

  /**
   * Changes one row and commits it in the row's store at once. While the row is locked, undoing can restore the old
   * value.
   */
  private async change(transaction: GlobalTransaction, row: string, by: number): Promise<void> {
    const before = await this.files.read<number>(row);
    await transaction.branch(
      async () => {
        await pause(COMMIT_TAKES_MS);
        await this.files.write(row, before + by);
      },
      () => this.files.write(row, before),
    );
  }
}
