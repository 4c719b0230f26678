import { LockModule, LockService, zookeeper } from 'nestjs-distributed-lock';
import { ZooKeeperServer } from 'nestjs-distributed-lock/testing';

export const registered = LockModule.forRoot({ backend: zookeeper({ connectString: '127.0.0.1:2181' }) });
export const take = (locks: LockService): Promise<void> => locks.using('key', (lease) => void lease.fencingToken);
export const start = (): Promise<ZooKeeperServer> => ZooKeeperServer.start();
