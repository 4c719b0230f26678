/** This package's locks on etcd, as an application uses them. */
import { etcd } from '../../../lib/etcd/etcd.backend.js';
import { closeInstances, instancesOn } from '../../support/instances.js';
import type { ContenderOptions, OpenContender } from './contender.js';
import { lockerOf } from './ours.js';

export async function open(address: string, options: ContenderOptions): Promise<OpenContender> {
  const instances = await instancesOn(1, etcd({ hosts: address }));
  const [service] = instances;
  return {
    locker: (key) => lockerOf(service!, key, options),
    close: () => closeInstances(instances),
  };
}
