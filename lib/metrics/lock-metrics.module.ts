import { Inject, Module, Optional } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { LockConfigurationError } from '../contract/errors.js';
import { observableLocks } from '../service/registered-locks.js';
import type { LockTelemetry } from '../telemetry/lock-telemetry.js';
import { ExportedMetrics } from './exported-metrics.js';
import { resolveLockMetricsOptions } from './lock-metrics.options.js';
import type { LockMetricsOptions, ResolvedLockMetricsOptions } from './lock-metrics.options.js';

const OPTIONS = Symbol('LOCK_METRICS_OPTIONS');

/**
 * Metrics of locks in a registry of prom-client. The route that serves them is the application's own, as for its other
 * metrics. See [metrics](../../docs/metrics.md). After the application has shut down, the registry keeps its counters,
 * and its gauges are gone.
 */
@Module({})
export class LockMetricsModule implements OnModuleInit, OnApplicationShutdown {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private measured: readonly LockTelemetry[] = [];

  /**
   * @internal
   * @throws LockConfigurationError when a module imports the class itself
   */
  constructor(
    @Optional() @Inject(OPTIONS) private readonly options: ResolvedLockMetricsOptions | undefined,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {
    if (options) return;
    throw new LockConfigurationError('a module imports LockMetricsModule itself: import LockMetricsModule.forRoot()');
  }

  /**
   * Registers the metrics of the connections that the options name. Import it once, in the root module.
   * @throws LockConfigurationError that names the wrong option
   */
  static forRoot(options: LockMetricsOptions = {}): DynamicModule {
    const resolved = resolveLockMetricsOptions(options);
    // Global modules begin first, so acquisitions at the start of others are measured.
    return { module: LockMetricsModule, global: true, providers: [{ provide: OPTIONS, useValue: resolved }] };
  }

  /** Called by Nest. @throws LockConfigurationError when there is no such connection */
  onModuleInit(): void {
    const options = this.options as ResolvedLockMetricsOptions;
    const all = observableLocks(this.modules, options.connections, 'LockMetricsModule');
    const metrics = ExportedMetrics.in(options);
    this.measured = all.map((locks) => metrics.measure(locks));
  }

  /** Called by Nest. */
  onApplicationShutdown(): void {
    this.measured.forEach((telemetry) => telemetry.applicationEnds());
  }
}
