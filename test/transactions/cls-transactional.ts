import { ConflictException, Injectable, Module } from '@nestjs/common';
import { ClsPluginTransactional, Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterDrizzleOrm } from '@nestjs-cls/transactional-adapter-drizzle-orm';
import { and, eq, lte } from 'drizzle-orm';
import { ClsModule } from 'nestjs-cls';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';
import { stock, STORE, storeAt } from './drizzle.js';
import type { Store } from './drizzle.js';
import { Payments } from './shop.js';

@Injectable()
export class TransactionalShop {
  constructor(
    private readonly host: TransactionHost<TransactionalAdapterDrizzleOrm<Store>>,
    private readonly payments: Payments,
  ) {}

  @DistributedLock((sku: string) => key`stock/${sku}`) // 1. the lock, until the transaction is over
  async take(sku: string): Promise<void> {
    const token = assertHeld().fencingToken;
    await this.payments.charge(sku);
    await this.add(sku, -1, token);
  }

  @DistributedLock((sku: string) => key`stock/${sku}`) // on one method: the lock above,
  @Transactional() // so that it outlives the commit
  async putBack(sku: string): Promise<void> {
    await this.add(sku, 1, assertHeld().fencingToken);
  }

  @Transactional() // 2. the transaction, or a part of the one that is under way
  protected async add(sku: string, units: number, token: bigint): Promise<void> {
    const ofSku = eq(stock.sku, sku);
    const [row] = await this.host.tx.select({ units: stock.units }).from(stock).where(ofSku);
    if (!row) throw new ConflictException(`there is no ${sku}`);
    const isNewest = and(ofSku, lte(stock.token, token)); // 3. the fencing column
    const { rowsAffected } = await this.host.tx
      .update(stock)
      .set({ units: row.units + units, token })
      .where(isNewest);
    if (rowsAffected !== 1) throw new ConflictException('a newer holder of the lock has written');
  }
}

@Module({})
export class TransactionalShopModule {
  static at(url: string) {
    const store = { module: StoreModule, providers: [storeAt(url)], exports: [STORE] };
    const adapter = new TransactionalAdapterDrizzleOrm<Store>({ drizzleInstanceToken: STORE });
    const transactional = new ClsPluginTransactional({ imports: [store], adapter });
    return {
      module: TransactionalShopModule,
      imports: [ClsModule.forRoot({ plugins: [transactional] }), store],
      providers: [TransactionalShop, Payments],
    };
  }
}

class StoreModule {}
