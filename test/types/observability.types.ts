/** The options of health checks, metrics and traces. Nothing here runs; `tsc` is the test. */
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { Registry } from 'prom-client';
import { LockMetricsModule } from 'nestjs-distributed-lock/metrics';
import { LockOtelMetricsModule, LockTracingModule } from 'nestjs-distributed-lock/opentelemetry';
import type { LockHealthIndicator } from 'nestjs-distributed-lock/terminus';

// The result is what `HealthCheckService.check` takes, with the details of a lock.
export const result = (locks: LockHealthIndicator): HealthIndicatorResult<'locks'> => locks.isHealthy('locks');
export const held = (locks: LockHealthIndicator): number => locks.isHealthy('locks', { graceMs: 5_000 }).locks.held;

// @ts-expect-error: the answer has only the key that was given
export const other = (locks: LockHealthIndicator) => locks.isHealthy('locks').others;

// @ts-expect-error: no such status
export const sick = (locks: LockHealthIndicator) => locks.isHealthy('locks', { lost: 'sick' });

LockMetricsModule.forRoot({ registry: new Registry(), nameOf: ({ key, label }) => label ?? key.split('/')[0] });
LockMetricsModule.forRoot({ registry: undefined, buckets: undefined, prefix: undefined, maxNames: undefined });
LockOtelMetricsModule.forRoot({ connections: ['default', 'second'] });
LockTracingModule.forRoot({ acquireAfterMs: 5, requireParent: false, recordKeys: false });

// @ts-expect-error: OpenTelemetry has no prefix
LockOtelMetricsModule.forRoot({ prefix: 'shop_' });

// @ts-expect-error: the kind of a lock is one of those that exist
LockMetricsModule.forRoot({ nameOf: ({ kind }) => (kind === 'mutex' ? 'a' : undefined) });
