/**
 * A page inside a Nest application that shows the locks of the cluster, live.
 * @module nestjs-distributed-lock/dashboard
 */

export { LockDashboardModule } from './dashboard.module.js';
export type { LockDashboardAsyncOptions } from './dashboard.module.js';
export type { LockDashboardExtras, LockDashboardOptions } from './dashboard.options.js';
export type { DashboardAction } from './answers.js';
