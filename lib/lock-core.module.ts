import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CronExplorer } from './cron.explorer.js';
import { ElectionExplorer } from './election.explorer.js';
import { exceptionFilterExports, exceptionFilterProviders } from './exception-filter.js';
import { LockExplorer } from './lock.explorer.js';
import { Scheduler } from './schedule/scheduler.js';
import { ShutdownHooksCheck } from './shutdown-hooks.check.js';

/**
 * The providers that an application needs once, however many connections it registers. Global, so that it is
 * initialised first.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [LockExplorer, CronExplorer, ElectionExplorer, Scheduler, ShutdownHooksCheck, ...exceptionFilterProviders],
  exports: [Scheduler, ...exceptionFilterExports],
})
export class LockCoreModule {}
