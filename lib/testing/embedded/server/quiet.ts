import { nextTurn } from '../sessions/real-time.js';
import type { EmbeddedServer } from './embedded-server.js';

/**
 * The number of turns of the event loop without traffic. It is more than an answer takes to be read and answered in its
 * turn.
 */
const QUIET_TURNS = 5;

/**
 * Resolves when there is no more traffic.
 * @param isOnItsWay whether messages between the servers are about to arrive
 */
export async function quiet(servers: readonly EmbeddedServer[], isOnItsWay = () => false): Promise<void> {
  let heard = -1;
  for (let turns = 0; turns < QUIET_TURNS; turns++) {
    await new Promise((resolve) => nextTurn(resolve));
    const hears = servers.reduce((sum, server) => sum + server.heard, 0);
    const isBusy = isOnItsWay() || servers.some(isBusyNow);
    if (isBusy || hears !== heard) turns = 0;
    heard = hears;
  }
}

function isBusyNow({ connections, replica }: EmbeddedServer): boolean {
  return replica.isCatchingUp || [...connections].some(({ isIdle }) => !isIdle);
}
