import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import { check, checkFields, checkMs } from '../contract/check.js';
import type { BackendState } from '../contract/lock-backend.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** The status of an indicator. `degraded` exists since version 12 of terminus. Version 11 shows it as `up`. */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** The options of one health check. */
export interface LockHealthOptions {
  /** The name of the connection. Default `'default'`. */
  readonly connection?: string | undefined;
  /** The status while no server is connected, and no lease is lost yet. Default `'degraded'`. */
  readonly suspended?: HealthStatus | undefined;
  /** The status after the leases were lost, until a server is connected again. Default `'down'`. */
  readonly lost?: HealthStatus | undefined;
  /** Time for which a lost connection has the status of a suspended one first, in milliseconds. Default 0. */
  readonly graceMs?: number | undefined;
}

/** The promises of the backend, in short. See [backends](../../docs/backends.md). */
export type LockHealthGuarantees = Pick<BackendGuarantees, 'decidedBy' | 'clocks' | 'failOver' | 'records'>;

/** The details of a health check. They name neither keys nor hosts, because such routes are often public. */
export interface LockHealthData {
  /** The state of the connection. */
  readonly state: BackendState;
  /** Time for which the connection has had this state, in milliseconds. */
  readonly sinceMs: number;
  /** The session timeout as granted by the servers, in milliseconds. Without a session there is none. */
  readonly sessionTimeoutMs?: number;
  /** The number of leases that this process holds. */
  readonly held: number;
  /** The number of callers in this process that wait for a lease. */
  readonly waiting: number;
  /** The name of the backend. */
  readonly backend: string;
  /** The promises of the backend. A backend may declare none. */
  readonly guarantees?: LockHealthGuarantees;
}

export type ResolvedLockHealthOptions = {
  readonly [F in keyof LockHealthOptions]-?: NonNullable<LockHealthOptions[F]>;
};

export const DEFAULTS: ResolvedLockHealthOptions = Object.freeze({
  connection: DEFAULT_CONNECTION,
  suspended: 'degraded',
  lost: 'down',
  graceMs: 0,
});

const FIELDS = Object.keys(DEFAULTS);
const STATUSES: readonly unknown[] = ['up', 'degraded', 'down'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockHealthOptions(options: LockHealthOptions): ResolvedLockHealthOptions {
  checkFields('isHealthy options', options, FIELDS);
  const {
    connection = DEFAULTS.connection,
    suspended = DEFAULTS.suspended,
    lost = DEFAULTS.lost,
    graceMs = DEFAULTS.graceMs,
  } = options;
  check(typeof connection === 'string' && connection !== '', 'connection', connection, 'text that is not empty');
  check(STATUSES.includes(suspended), 'suspended', suspended, "'up', 'degraded' or 'down'");
  check(STATUSES.includes(lost), 'lost', lost, "'up', 'degraded' or 'down'");
  checkMs('graceMs', graceMs);
  return { connection, suspended, lost, graceMs };
}
