import { ConflictException, Injectable, Module } from '@nestjs/common';
import { BigIntType, Entity, EntityManager, PrimaryKey, Property } from '@mikro-orm/core';
import { LibSqlDriver } from '@mikro-orm/libsql';
import { MikroOrmModule } from '@mikro-orm/nestjs';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';
import { Payments } from './shop.js';

@Entity()
export class Stock {
  @PrimaryKey({ type: 'text' })
  sku!: string;

  @Property({ type: 'integer' })
  units!: number;

  /** The fencing token of the last holder that has written. */
  @Property({ type: new BigIntType('bigint'), default: 0 })
  token!: bigint;
}

@Injectable()
export class MikroOrmShop {
  constructor(
    private readonly entities: EntityManager,
    private readonly payments: Payments,
  ) {}

  @DistributedLock((sku: string) => key`stock/${sku}`) // 1. the lock, until the transaction is over
  async take(sku: string): Promise<void> {
    const token = assertHeld().fencingToken;
    await this.payments.charge(sku);
    await this.entities.fork().transactional(async (transaction) => {
      const { units } = await transaction.findOneOrFail(Stock, { sku }, { fields: ['units'] }); // 2. the transaction
      const isNewest = { sku, token: { $lte: token } }; // 3. the fencing column
      const affected = await transaction.nativeUpdate(Stock, isNewest, { units: units - 1, token });
      if (affected !== 1) throw new ConflictException('a newer holder of the lock has written');
    });
  }
}

@Module({
  imports: [MikroOrmModule.forRoot({ driver: LibSqlDriver, dbName: ':memory:', entities: [Stock] })],
  providers: [MikroOrmShop, Payments],
})
export class MikroOrmShopModule {}
