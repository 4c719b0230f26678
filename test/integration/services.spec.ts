import { describe, expect, inject, it } from 'vitest';
import { CoordinationService, CronRunsService, LeaderElectionService } from '../../lib/index.js';
import { guardedJobsOf } from '../../lib/schedule/guarded-jobs.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { SHARED_BY_NAME } from '../support/shared-by-name.js';
import { contendersAt, openClient } from '../support/znodes.js';
import { jobWith } from '../unit/schedule/jobs.js';

const connectString = inject('zookeeper');
const HOUR_MS = 3_600_000;
const followingOf = () => (instant: number) => (Math.floor(instant / HOUR_MS) + 1) * HOUR_MS;

/** One instance of a service, with a session of its own. */
async function openInstance(basePath: string, service: string) {
  const locks = await openService({ connectString, basePath, service, waitMs: 1_000 });
  const runs = new CronRunsService(locks, { followingOf });
  const [coordination, elections] = [new CoordinationService(locks), new LeaderElectionService(locks)];
  return { locks, runs, jobs: guardedJobsOf(locks)!, coordination, elections };
}

type Instance = Awaited<ReturnType<typeof openInstance>>;

/** Two instances, and a client that observes from outside. */
async function twoInstances(services: readonly [string, string]) {
  const basePath = freshBasePath();
  const [one, other] = [await openInstance(basePath, services[0]), await openInstance(basePath, services[1])];
  return { one, other, basePath, client: await openClient(connectString) };
}

const SHARED: Readonly<Record<string, (one: Instance, other: Instance) => Promise<boolean>>> = {
  'a job': async (one, other) => {
    const ran = await Promise.all([one, other].map(({ jobs }) => jobs.fire(jobWith(), async () => 'ran')));
    return ran.filter((result) => result === 'ran').length === 1;
  },
  ...SHARED_BY_NAME,
};

describe('two services that use the same name', () => {
  it.each(Object.keys(SHARED))('do not share %s', async (what) => {
    const { one, other } = await twoInstances(['shop', 'billing']);
    expect(await SHARED[what]!(one, other)).toBe(false);
  });

  it('each record their runs in their own registry', async () => {
    const { one, other } = await twoInstances(['shop', 'billing']);
    for (const { jobs } of [one, other]) await jobs.fire(jobWith(), async () => {});
    const lists = await Promise.all([one, other].map(({ runs }) => runs.list()));
    expect(lists.map((runs) => runs.map(({ name, key, state }) => [name, key, state]))).toEqual([
      [['daily', 'cron/daily', 'done']],
      [['daily', 'cron/daily', 'done']],
    ]);
    expect(lists[0]![0]!.runId).not.toBe(lists[1]![0]!.runId);
    expect(await one.runs.forget('daily')).toBe(true);
    expect([await one.runs.list(), (await other.runs.list()).length]).toEqual([[], 1]);
  });

  it('share the run of a job whose key is a path', async () => {
    const { one, other, basePath } = await twoInstances(['shop', 'billing']);
    const key = `${basePath}/yearly`;
    expect(await one.jobs.fire(jobWith({ key }), async () => 'ran')).toBe('ran');
    expect(await other.jobs.fire(jobWith({ key }), async () => 'ran')).toBeUndefined();
    expect(await other.runs.list()).toEqual([await one.runs.last(key)]);
  });
});

describe('two instances of one service', () => {
  it.each(Object.keys(SHARED))('share %s', async (what) => {
    const { one, other } = await twoInstances(['shop', 'shop']);
    expect(await SHARED[what]!(one, other)).toBe(true);
  });
});

describe('the directory of a lock', () => {
  it('contains nothing of an election or a job of the same name', async () => {
    const { one, basePath, client } = await twoInstances(['shop', 'billing']);
    const term = await one.elections.campaign('cron/daily');
    await using _lease = await one.locks.acquire('cron/daily');
    const seen = await one.jobs.fire(jobWith(), async () => ({
      lock: await client.children(`${basePath}/cron/daily`),
      election: await contendersAt(client, `${basePath}/%elections/shop%2Fcron%2Fdaily`),
      job: await contendersAt(client, `${basePath}/#jobs/shop/cron/daily`),
    }));
    expect(seen).toEqual({
      lock: [expect.stringContaining('-lock-')],
      election: [expect.stringContaining('-latch-')],
      job: [expect.stringContaining('-lock-')],
    });
    await term.resign();
  });
});
