import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { openService } from './services.js';
import type { ServiceOptions } from './services.js';

/** The elections of a service with a session of its own, as in another process. */
export async function openCandidate(options: ServiceOptions): Promise<LeaderElectionService> {
  return new LeaderElectionService(await openService(options));
}
