import { ConflictException, Inject, Injectable, Module } from '@nestjs/common';
import { createClient } from '@libsql/client';
import { and, eq, lte } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql';
import type { LibSQLDatabase } from 'drizzle-orm/libsql';
import { customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';
import { Payments } from './shop.js';

const int64 = customType<{ data: bigint }>({ dataType: () => 'integer' });

export const stock = sqliteTable('stock', {
  sku: text().primaryKey(),
  units: integer().notNull(),
  /** The fencing token of the last holder that has written. */
  token: int64().notNull(),
});

export const STORE = Symbol('store');
export type Store = LibSQLDatabase;

@Injectable()
export class DrizzleShop {
  constructor(
    @Inject(STORE) private readonly store: Store,
    private readonly payments: Payments,
  ) {}

  @DistributedLock((sku: string) => key`stock/${sku}`) // 1. the lock, until the transaction is over
  async take(sku: string): Promise<void> {
    const token = assertHeld().fencingToken;
    await this.payments.charge(sku);
    await this.store.transaction(async (transaction) => {
      const ofSku = eq(stock.sku, sku);
      const [row] = await transaction.select({ units: stock.units }).from(stock).where(ofSku); // 2. the transaction
      if (!row) throw new ConflictException(`there is no ${sku}`);
      const isNewest = and(ofSku, lte(stock.token, token)); // 3. the fencing column
      const { rowsAffected } = await transaction
        .update(stock)
        .set({ units: row.units - 1, token })
        .where(isNewest);
      if (rowsAffected !== 1) throw new ConflictException('a newer holder of the lock has written');
    });
  }
}

export function storeAt(url: string) {
  return { provide: STORE, useFactory: (): Store => drizzle(createClient({ url })) };
}

@Module({})
export class DrizzleShopModule {
  static at(url: string) {
    return { module: DrizzleShopModule, providers: [DrizzleShop, Payments, storeAt(url)] };
  }
}
