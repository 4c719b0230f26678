import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { LockService } from '../../../../lib/index.js';
import { NodeZooKeeperClient } from '../../../../lib/zookeeper/client/node-zookeeper-client.js';
import { CreateMode, ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import { openService } from '../../../support/services.js';
import { freshBasePath } from '../../../support/base-path.js';
import { openClient } from '../../../support/znodes.js';

const LAG_MS = 100;
const PERMITS = { permits: 1 };
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }] as const;

let up: LockService;
let behind: LockService;
let alsoBehind: LockService;
let basePath: string;
let connectString: string;
let lag: (ms: number) => void;

/** One service on a server that is up to date, and two on a server that can be made to lag. */
beforeEach(async () => {
  const ensemble = await EmbeddedEnsemble.start(3);
  onTestFinished(() => ensemble.stop());
  const [follower] = ensemble.followers;
  basePath = freshBasePath();
  ({ connectString } = ensemble.leader!);
  const { connectString: ofFollower } = follower!;
  up = await openService({ connectString, basePath });
  behind = await openService({ connectString: ofFollower, basePath });
  alsoBehind = await openService({ connectString: ofFollower, basePath });
  lag = (ms) => follower!.lag(ms);
});

it('grants permits that were released before the call', async () => {
  const lease = await up.semaphore('s', PERMITS).acquire();
  expect(await behind.semaphore('s', PERMITS).tryAcquire()).toBeNull();
  lag(LAG_MS);
  await lease.release();
  expect(await behind.semaphore('s', PERMITS).tryAcquire()).not.toBeNull();
});

it('grants permits that were added before the call, and tells their number', async () => {
  await up.semaphore('s', PERMITS).acquire();
  await up.semaphore('s', PERMITS).setPermits(1);
  expect(await behind.semaphore('s', PERMITS).tryAcquire()).toBeNull();
  lag(LAG_MS);
  await up.semaphore('s', PERMITS).setPermits(2);
  expect(await behind.semaphore('s', PERMITS).permits()).toBe(2);
  await up.semaphore('s', PERMITS).setPermits(3);
  expect(await behind.semaphore('s', PERMITS).tryAcquire({ permits: 2 })).not.toBeNull();
});

it('grants free permits without waiting, however long the servers take to answer', async () => {
  await behind.semaphore('s', PERMITS).using(() => {});
  lag(1_200);
  expect(await behind.semaphore('s', PERMITS).tryAcquire()).not.toBeNull();
});

it('grants free permits without waiting behind others that take theirs, however long the servers take to answer', async () => {
  await behind.semaphore('s', PERMITS).using(() => {});
  lag(1_200);
  const tries = [behind, alsoBehind].map((locks) => locks.semaphore('s', { permits: 2 }).tryAcquire());
  for (const lease of await Promise.all(tries)) expect(lease).not.toBeNull();
});

it('gives up without waiting behind a contender that does not pass, also while the servers refuse some requests', async () => {
  await up.semaphore('s', PERMITS).using(() => {});
  const client = await openClient(connectString);
  const [path, data, acl] = [`${basePath}/s/locks/_c_stuck-lock-`, Buffer.alloc(0), OPEN];
  await client.create({ path, data, acl, mode: CreateMode.ephemeralSequential });
  const { sync } = NodeZooKeeperClient.prototype;
  // The first one is the look for free permits, before the try.
  const syncs = vi.spyOn(NodeZooKeeperClient.prototype, 'sync').mockImplementation(function (
    this: NodeZooKeeperClient,
    at,
  ) {
    return syncs.mock.calls.length === 3 ? Promise.reject(new KeeperError(ErrorCode.throttled)) : sync.call(this, at);
  });
  onTestFinished(() => syncs.mockRestore());
  expect(await up.semaphore('s', PERMITS).tryAcquire()).toBeNull();
  expect(syncs.mock.calls.length).toBeGreaterThan(3);
});
