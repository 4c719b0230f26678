import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LockMetricsModule } from 'nestjs-distributed-lock/metrics';
import { LockHealthModule } from 'nestjs-distributed-lock/terminus';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** Metrics and health of an instance, for the machines that watch it. People have the page of locks. */
@Module({
  imports: [LockMetricsModule.forRoot(), TerminusModule, LockHealthModule],
  controllers: [MetricsController, HealthController],
})
export class OperationsModule {}
