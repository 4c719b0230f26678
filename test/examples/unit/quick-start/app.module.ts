import { Module } from '@nestjs/common';
import { LockModule, zookeeper } from 'nestjs-distributed-lock';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [
    LockModule.forRoot({
      service: 'shop', // the application's name, the same in all instances
      backend: zookeeper(), // ZOOKEEPER_CONNECT, else localhost:2181; or { connectString: 'zk1:2181,zk2:2181,zk3:2181/shop' }
    }),
  ],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class AppModule {}
