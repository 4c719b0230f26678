import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { LockService } from '../../../../lib/index.js';
import { openService } from '../../../support/services.js';
import { freshBasePath } from '../../../support/base-path.js';

const LAG_MS = 100;
const PERMITS = { permits: 1 };

let up: LockService;
let behind: LockService;
let alsoBehind: LockService;
let lag: (ms: number) => void;

/** One service on a server that is up to date, and two on a server that can be made to lag. */
beforeEach(async () => {
  const ensemble = await EmbeddedEnsemble.start(3);
  onTestFinished(() => ensemble.stop());
  const [follower] = ensemble.followers;
  const basePath = freshBasePath();
  const [{ connectString: ofLeader }, { connectString: ofFollower }] = [ensemble.leader!, follower!];
  up = await openService({ connectString: ofLeader, basePath });
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
