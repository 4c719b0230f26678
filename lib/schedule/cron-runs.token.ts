import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import { CronRunsService } from './cron-runs.service.js';

/**
 * The injection token of the `CronRunsService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getCronRunsToken(name: string = DEFAULT_CONNECTION): typeof CronRunsService | symbol {
  return name === DEFAULT_CONNECTION ? CronRunsService : connectionToken('CronRunsService', name);
}
