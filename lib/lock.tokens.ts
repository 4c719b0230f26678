import { Inject } from '@nestjs/common';
import { getCoordinationToken } from './coordination/coordination.service.js';
import { needParentheses } from './decorators/decorated-place.js';
import { getLeaderElectionToken } from './elections/leader-election.service.js';
import { getCronRunsToken } from './schedule/cron-runs.service.js';
import { getLockServiceToken } from './service/lock-service.token.js';

export { getCoordinationToken, getCronRunsToken, getLeaderElectionToken, getLockServiceToken };

/**
 * Injects the `LockService` of a connection by name. For the default one, `LockService` as a parameter's type is
 * enough.
 */
export function InjectLocks(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectLocks()', arguments);
  return Inject(getLockServiceToken(name));
}

/**
 * Injects the `CronRunsService` of a connection by name. For the default one, the class as a parameter's type is
 * enough.
 */
export function InjectCronRuns(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectCronRuns()', arguments);
  return Inject(getCronRunsToken(name));
}

/**
 * Injects the `CoordinationService` of a connection by name. For the default one, the class as a parameter's type is
 * enough.
 */
export function InjectCoordination(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectCoordination()', arguments);
  return Inject(getCoordinationToken(name));
}

/**
 * Injects the `LeaderElectionService` of a connection by name. For the default one, the class as a parameter's type is
 * enough.
 */
export function InjectLeaderElection(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectLeaderElection()', arguments);
  return Inject(getLeaderElectionToken(name));
}
