/**
 * The health of a connection, for `@nestjs/terminus`.
 * @module nestjs-distributed-lock/terminus
 */

export { LockHealthIndicator } from './lock-health.indicator.js';
export { LockHealthModule } from './lock-health.module.js';
export type { HealthStatus, LockHealthData, LockHealthGuarantees, LockHealthOptions } from './lock-health.options.js';
