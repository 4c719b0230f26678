/** This package's locks on Redis, as an application uses them. */
import { redis } from '../../../lib/redis/redis.backend.js';
import { closeInstances, instancesOn } from '../../support/instances.js';
import type { ContenderOptions, OpenContender } from './contender.js';
import { lockerOf } from './ours.js';

export async function open(address: string, options: ContenderOptions): Promise<OpenContender> {
  // The run has started the server, so no lease of an earlier one can still be held.
  const instances = await instancesOn(1, redis({ url: `redis://${address}`, restartDelayMs: 0 }));
  const [service] = instances;
  return {
    locker: (key) => lockerOf(service!, key, options),
    close: () => closeInstances(instances),
  };
}
