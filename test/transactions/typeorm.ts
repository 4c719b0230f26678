import { ConflictException, Injectable, Module } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';
import { Column, DataSource, Entity, LessThanOrEqual, PrimaryColumn } from 'typeorm';
import { Payments } from './shop.js';

@Entity()
export class Stock {
  @PrimaryColumn('text')
  sku!: string;

  @Column('integer')
  units!: number;

  /** The fencing token of the last holder that has written. */
  @Column('bigint', { default: 0 })
  token!: string;
}

@Injectable()
export class TypeOrmShop {
  constructor(
    @InjectDataSource() private readonly store: DataSource,
    private readonly payments: Payments,
  ) {}

  @DistributedLock((sku: string) => key`stock/${sku}`) // 1. the lock, until the transaction is over
  async take(sku: string): Promise<void> {
    const token = String(assertHeld().fencingToken);
    await this.payments.charge(sku);
    await this.store.transaction(async (transaction) => {
      const { units } = await transaction.findOneByOrFail(Stock, { sku }); // 2. the transaction
      const isNewest = { sku, token: LessThanOrEqual(token) }; // 3. the fencing column
      const { affected } = await transaction.update(Stock, isNewest, { units: units - 1, token });
      if (affected !== 1) throw new ConflictException('a newer holder of the lock has written');
    });
  }
}

@Module({
  imports: [TypeOrmModule.forRoot({ type: 'sqljs', entities: [Stock], synchronize: true })],
  providers: [TypeOrmShop, Payments],
})
export class TypeOrmShopModule {}
