import { Module } from '@nestjs/common';
import { LockModule, zookeeper } from 'nestjs-distributed-lock';
import { Ledger } from './ledger.js';
import { OrdersService } from './orders.service.js';

@Module({
  // Which servers: ZOOKEEPER_CONNECT says.
  imports: [LockModule.forRootAsync({ useFactory: () => ({ backend: zookeeper({ sessionTimeoutMs: 4_000 }) }) })],
  providers: [OrdersService, { provide: 'BANK', useClass: Ledger }],
})
export class AppModule {}
