import { Inject, Module, Optional } from '@nestjs/common';
import type { DynamicModule, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { LockConfigurationError } from '../contract/errors.js';
import type { LockService } from '../service/lock.service.js';
import { observableLocks } from '../service/registered-locks.js';
import { SCOPE } from '../telemetry/telemetry.options.js';
import { LockSpans } from './lock-spans.js';
import { resolveLockTracingOptions } from './lock-tracing.options.js';
import type { LockTracingOptions, ResolvedLockTracingOptions } from './lock-tracing.options.js';

const OPTIONS = Symbol('LOCK_TRACING_OPTIONS');

/**
 * Spans of locks by the global tracer provider of OpenTelemetry: `acquire` for a wait or a failure, and `hold` for a
 * lease. The span of a hold is active while the work of `using` or of a decorated method runs. See
 * [traces](../../docs/tracing.md).
 */
@Module({})
export class LockTracingModule implements OnModuleInit {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  /**
   * @internal
   * @throws LockConfigurationError when a module imports the class itself
   */
  constructor(
    @Optional() @Inject(OPTIONS) private readonly options: ResolvedLockTracingOptions | undefined,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {
    if (options) return;
    throw new LockConfigurationError('a module imports LockTracingModule itself: import LockTracingModule.forRoot()');
  }

  /**
   * Traces the connections that the options name. Import it once, in the root module.
   * @throws LockConfigurationError that names the wrong option
   */
  static forRoot(options: LockTracingOptions = {}): DynamicModule {
    const resolved = resolveLockTracingOptions(options);
    // Global modules begin first, so acquisitions at the start of others are traced.
    return { module: LockTracingModule, global: true, providers: [{ provide: OPTIONS, useValue: resolved }] };
  }

  /** Called by Nest. @throws LockConfigurationError when there is no such connection */
  onModuleInit(): void {
    const options = this.options as ResolvedLockTracingOptions;
    const all = observableLocks(this.modules, options.connections, 'LockTracingModule');
    const tracer = trace.getTracer(SCOPE);
    // The connection ends the subscriptions, after its last lease.
    all.forEach((locks) => traceLocks(locks, new LockSpans(tracer, options)));
  }
}

function traceLocks({ events }: LockService, spans: LockSpans): void {
  events.on('waiting', (event) => spans.started(event));
  events.on('acquired', (event) => spans.granted(event));
  events.on('holding', (event) => spans.holding(event));
  events.on('missed', (event) => spans.missed(event));
  events.on('suspended', (event) => spans.noted('suspended', event));
  events.on('resumed', (event) => spans.noted('resumed', event));
  events.on('revoking', (event) => spans.noted('revoking', event));
  events.on('lost', (event) => spans.lost(event));
  events.on('released', (event) => spans.released(event));
}
