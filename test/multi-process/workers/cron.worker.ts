// Imported first, so that no other module sees the correct time.
import './skewed-clock.js';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { LockModule } from '../../../lib/lock.module.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { JOBS } from './cron-jobs.js';
import { ordersOf } from './orders.js';
import type { CronMessage, CronOrders } from './orders.js';

// An application with one job. Sends a message when it is ready, and obeys the messages that it gets.
const { connectString, basePath, sessionTimeoutMs, job } = ordersOf<CronOrders>();
const backend = zookeeper({ connectString, basePath, sessionTimeoutMs });

@Module({ imports: [LockModule.forRoot({ service: 'test', backend }), ScheduleModule.forRoot()], providers: [JOBS] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'], abortOnError: false });
const told = {
  fire: () => app.get(SchedulerRegistry).getCronJob(job).fireOnTick(),
  close: () => app.close().then(() => process.disconnect()),
};
process.on('message', ({ say }: CronMessage) => void told[say]());
// A delay between reading the two clocks makes the difference too small, so the maximum is taken.
const wrongBy = Math.max(...Array.from({ length: 9 }, () => Date.now() - performance.timeOrigin - performance.now()));
process.send?.({ isReady: true, wrongBy });
