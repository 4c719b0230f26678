import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LockHealthIndicator } from './lock-health.indicator.js';

/**
 * Provides `LockHealthIndicator`. Import it beside `TerminusModule` in the module of the health controller. See
 * [health](../../docs/health.md).
 */
@Module({ imports: [TerminusModule], providers: [LockHealthIndicator], exports: [LockHealthIndicator] })
export class LockHealthModule {}
