import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import { LeaderElectionService } from './leader-election.service.js';

/**
 * The injection token of the `LeaderElectionService` of a connection: the class itself for the default one, a symbol that
 * is the same for the same name for the others.
 */
export function getLeaderElectionToken(name: string = DEFAULT_CONNECTION): typeof LeaderElectionService | symbol {
  return name === DEFAULT_CONNECTION ? LeaderElectionService : connectionToken('LeaderElectionService', name);
}
