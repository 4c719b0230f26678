import { describe, expect, it, onTestFinished } from 'vitest';
import { LockUnavailableError } from '../../../lib/contract/errors.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { unusedPort } from '../../support/unused-port.js';

async function unreachable(): Promise<LockService> {
  const connectString = `127.0.0.1:${await unusedPort()}`;
  const backend = zookeeper({ connectString, connectTimeoutMs: 100 }).create();
  const options = { connectionName: 'default', waitMs: 50, drainTimeoutMs: 0, connectOnStart: 'background' } as const;
  const locks = new LockService(backend, options);
  onTestFinished(() => locks.onApplicationShutdown());
  return locks;
}

const CALLS: Readonly<Record<string, (locks: LockService) => Promise<unknown>>> = {
  'a lock that is waited for': (locks) => locks.acquire('a'),
  'a lock that is waited for without end': (locks) => locks.acquire('a', { waitMs: Infinity }),
  'a lock that is tried': (locks) => locks.tryAcquire('a'),
  'a lock in its queue at the servers': (locks) => locks.mutex('a', { localLine: false }).acquire(),
  'work under a lock': (locks) => locks.using('a', () => {}),
  'a reader': (locks) => locks.readWriteLock('a').read.acquire(),
  'a permit': (locks) => locks.semaphore('a', { permits: 2 }).acquire(),
  'one of several keys': (locks) => locks.multi(['a', 'b']).acquire(),
  'the contenders of a key': (locks) => locks.contenders('a'),
};

describe('without a server, the error contains the key', () => {
  it.each(Object.entries(CALLS))('of %s', async (_what, call) => {
    const error: unknown = await call(await unreachable()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockUnavailableError);
    expect(error).toMatchObject({ key: 'a', message: expect.stringContaining('"a": no ZooKeeper server answered') });
  });
});
