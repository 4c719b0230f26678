import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HealthIndicatorService } from '@nestjs/terminus';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import { check } from '../contract/check.js';
import type { LockConnection } from '../service/lock-connection.js';
import { connectionOf } from '../service/lock.service.js';
import { registeredLocks } from '../service/registered-locks.js';
import { resolveLockHealthOptions } from './lock-health.options.js';
import type {
  HealthStatus,
  LockHealthData,
  LockHealthGuarantees,
  LockHealthOptions,
  ResolvedLockHealthOptions,
} from './lock-health.options.js';

/** The session of terminus, of which version 11 has no `degraded`. */
type HealthSession<Key extends string> = {
  readonly [S in HealthStatus]?: (data: Record<string, unknown>) => HealthIndicatorResult<Key>;
};

/** The health of a connection, for `HealthCheckService` of `@nestjs/terminus`. */
@Injectable()
export class LockHealthIndicator {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  constructor(
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(HealthIndicatorService) private readonly health: HealthIndicatorService,
  ) {}

  /**
   * Returns the health of one connection under `key`. It asks no server, so it is as quick while none answers. After a
   * session loss it is `down`, until a server is connected again. While the connection is suspended it is `degraded`,
   * which version 11 of terminus shows as `up`. For readiness, not for liveness: a restart heals no server.
   * @param key name of this check in the answer
   * @throws LockConfigurationError when there is no such connection, or when an option is wrong
   */
  isHealthy<const Key extends string>(
    key: Key,
    options: LockHealthOptions = {},
  ): HealthIndicatorResult<Key, HealthStatus, LockHealthData> {
    const resolved = resolveLockHealthOptions(options);
    const locks = registeredLocks(this.modules, resolved.connection, 'LockHealthIndicator.isHealthy');
    const connection: LockConnection | undefined = connectionOf(locks);
    check(
      connection !== undefined,
      'LockHealthIndicator.isHealthy: the LockService',
      locks,
      'a real one: it was replaced',
    );
    const data = dataOf(connection);
    const session = this.health.check(key) as HealthSession<Key>;
    const report = session[statusOf(data, resolved)] ?? session.up;
    return report?.call(session, { ...data }) as HealthIndicatorResult<Key, HealthStatus, LockHealthData>;
  }
}

function statusOf({ state, sinceMs }: LockHealthData, options: ResolvedLockHealthOptions): HealthStatus {
  if (state === 'connected') return 'up';
  return state === 'lost' && sinceMs >= options.graceMs ? options.lost : options.suspended;
}

function dataOf({ backend, gate, stateNow }: LockConnection): LockHealthData {
  const { name, guarantees } = backend;
  const sessionTimeoutMs = backend.vitals?.().sessionTimeoutMs;
  return {
    state: stateNow.state,
    sinceMs: Math.round(stateNow.sinceMs),
    ...(sessionTimeoutMs !== undefined && { sessionTimeoutMs }),
    ...gate.counts,
    backend: name,
    ...(guarantees && { guarantees: inShort(guarantees) }),
  };
}

function inShort({ decidedBy, clocks, failOver, records }: BackendGuarantees): LockHealthGuarantees {
  return { decidedBy, clocks, failOver, records };
}
