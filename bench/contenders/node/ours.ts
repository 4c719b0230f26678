/** This package's locks as an application uses them: one service with one session for all callers of the process. */
import type { LockService } from '../../../lib/service/lock.service.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { closeInstances, openInstances } from '../../support/instances.js';
import type { ContenderOptions, Locker, OpenContender } from './contender.js';

export async function open(address: string, options: ContenderOptions): Promise<OpenContender> {
  const instances = await openInstances(1, address);
  const [service] = instances;
  return {
    locker: (key) => lockerOf(service!, key, options),
    close: () => closeInstances(instances),
  };
}

/** Returns a locker of a service on any backend. */
export function lockerOf(
  service: LockService,
  key: string,
  { isReadWrite, ...options }: ContenderOptions,
): Locker<Lease> {
  const release = (lease: Lease) => {
    if (lease.state === 'lost') throw new Error(`the lease of ${key} was lost`);
    return lease.release();
  };
  if (isReadWrite) {
    const { read, write } = service.readWriteLock(key, options);
    return { acquire: (isRead) => (isRead ? read : write).acquire(PATIENT), release };
  }
  const lock = service.mutex(key, options);
  return { acquire: () => lock.acquire(PATIENT), release };
}

const PATIENT = { waitMs: 600_000 };
