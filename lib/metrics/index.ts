/**
 * Metrics of locks for Prometheus, on `prom-client`.
 * @module nestjs-distributed-lock/metrics
 */

export { LockMetricsModule } from './lock-metrics.module.js';
export type { LockMetricsOptions } from './lock-metrics.options.js';
export type { NamedLock, TelemetryOptions } from '../telemetry/telemetry.options.js';
