/**
 * Metrics and traces of locks, on the API of OpenTelemetry.
 * @module nestjs-distributed-lock/opentelemetry
 */

export { LockOtelMetricsModule } from './lock-otel-metrics.module.js';
export { LockTracingModule } from './lock-tracing.module.js';
export type { LockTracingOptions } from './lock-tracing.options.js';
export type { NamedLock, TelemetryOptions } from '../telemetry/telemetry.options.js';
