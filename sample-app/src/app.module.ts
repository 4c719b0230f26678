import { basename } from 'node:path';
import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { LockModule, zookeeper } from 'nestjs-distributed-lock';
import { LockDashboardModule } from 'nestjs-distributed-lock/dashboard';
import { etcd } from 'nestjs-distributed-lock/etcd';
import { redis } from 'nestjs-distributed-lock/redis';
import { CouponsModule } from './coupons/coupons.module.js';
import { FilesModule } from './files/files.module.js';
import { IsolationModule } from './isolation/isolation.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { noLocks } from './locks/no-locks.js';
import { watched } from './locks/watched.js';
import { OperationsModule } from './operations/operations.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { PollerModule } from './poller/poller.module.js';
import { PricesModule } from './prices/prices.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { settings } from './settings.js';
import { StockModule } from './stock/stock.module.js';
import { TransfersModule } from './transfers/transfers.module.js';

// Shops with different files share no data, so they must not wait for each other on a shared server.
const shop = basename(settings.shopDir);
const { restartDelayMs } = settings;
const granting = {
  zookeeper: () => zookeeper({ basePath: `/${shop}` }),
  redis: () => redis({ basePath: shop, restartDelayMs }),
  etcd: () => etcd({ basePath: shop }),
}[settings.backend]();
const backend = settings.isLocked ? granting : noLocks(settings.shopDir);

@Module({
  imports: [
    // watched() exists only for the live view. In your application this is `backend: zookeeper({ … })`, `redis({ … })` or `etcd({ … })`.
    // Without locks there is no local queue either: it would still serialise the callers of one instance.
    LockModule.forRoot({
      service: 'shop',
      backend: watched(backend),
      waitMs: 30_000,
      drainTimeoutMs: 3_000,
      localLine: settings.isLocked,
    }),
    // The instances listen on the loopback interface only, so whoever reaches the page may see it.
    LockDashboardModule.forRoot({ authorize: () => true, actions: ['revoke'] }),
    OperationsModule,
    ScheduleModule.forRoot(),
    FilesModule,
    OrdersModule,
    PricesModule,
    TransfersModule,
    IsolationModule,
    StockModule,
    CouponsModule,
    JobsModule,
    ReportsModule,
    PollerModule,
  ],
})
export class AppModule {}
