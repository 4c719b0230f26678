import { Inject, Module, Optional } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { metrics } from '@opentelemetry/api';
import { LockConfigurationError } from '../contract/errors.js';
import { observableLocks } from '../service/registered-locks.js';
import { LockTelemetry } from '../telemetry/lock-telemetry.js';
import { MetricNames } from '../telemetry/metric-names.js';
import { resolveTelemetryOptions, SCOPE } from '../telemetry/telemetry.options.js';
import type { ResolvedTelemetryOptions, TelemetryOptions } from '../telemetry/telemetry.options.js';
import { OtelInstruments } from './otel-instruments.js';

const OPTIONS = Symbol('LOCK_OTEL_METRICS_OPTIONS');

/**
 * Metrics of locks by the global meter provider of OpenTelemetry. The SDK must be started before the application is
 * created: the API has no instruments before. See [metrics](../../docs/metrics.md#opentelemetry).
 */
@Module({})
export class LockOtelMetricsModule implements OnModuleInit, OnApplicationShutdown {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private readonly measured = new Set<LockTelemetry>();

  /**
   * @internal
   * @throws LockConfigurationError when a module imports the class itself
   */
  constructor(
    @Optional() @Inject(OPTIONS) private readonly options: ResolvedTelemetryOptions | undefined,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {
    if (options) return;
    throw new LockConfigurationError(
      'a module imports LockOtelMetricsModule itself: import LockOtelMetricsModule.forRoot()',
    );
  }

  /**
   * Measures the connections that the options name. Import it once, in the root module.
   * @throws LockConfigurationError that names the wrong option
   */
  static forRoot(options: TelemetryOptions = {}): DynamicModule {
    const resolved = resolveTelemetryOptions('LockOtelMetricsModule options', options);
    // Global modules begin first, so acquisitions at the start of others are measured.
    return { module: LockOtelMetricsModule, global: true, providers: [{ provide: OPTIONS, useValue: resolved }] };
  }

  /** Called by Nest. @throws LockConfigurationError when there is no such connection */
  onModuleInit(): void {
    const options = this.options as ResolvedTelemetryOptions;
    const all = observableLocks(this.modules, options.connections, 'LockOtelMetricsModule');
    const instruments = new OtelInstruments(metrics.getMeter(SCOPE));
    const names = new MetricNames(options);
    const stopObserving = instruments.observe(this.measured);
    for (const locks of all) {
      const telemetry = new LockTelemetry(locks, names, instruments, () => {
        this.measured.delete(telemetry);
        if (this.measured.size === 0) stopObserving();
      });
      this.measured.add(telemetry);
    }
  }

  /** Called by Nest. */
  onApplicationShutdown(): void {
    [...this.measured].forEach((telemetry) => telemetry.applicationEnds());
  }
}
