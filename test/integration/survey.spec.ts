import { describe, expect, inject, it } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { CreateMode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { surveyTests } from '../support/survey/survey-checks.js';
import { twoProcesses } from '../support/two-processes.js';

const connectString = inject('zookeeper');
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const LONG_MS = 30_000;

describe('a survey of ZooKeeper', () => {
  const base = freshBasePath();
  surveyTests(
    (place, { host = connectString, ...settings } = {}) =>
      zookeeper({ connectString: host, basePath: base + place, sessionTimeoutMs: 10_000, ...settings }).create(),
    () => connectString,
  );

  it('shows locks of other clients at absolute paths, and leaves out their other znodes', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    await one.acquire('mine');
    const theirs = `${basePath}-curator`;
    const create = (path: string, mode: CreateMode = CreateMode.persistent) =>
      client.create({ path, data: Buffer.from('10.0.0.1'), acl: OPEN, mode });
    for (const path of [theirs, `${theirs}/config`, `${theirs}/lock`, `${basePath}/notes`]) await create(path);
    const { path } = await create(`${theirs}/lock/_c_x-lock-`, CreateMode.ephemeralSequential);
    expect(path).toMatch(/-lock-0000000000$/);

    expect((await one.survey({ withinMs: LONG_MS })).keys.map(({ key }) => key)).toEqual(['mine']);
    const { keys, isTruncated } = await one.survey({ prefix: `${theirs}/`, withinMs: LONG_MS });
    expect(isTruncated).toBe(false);
    expect(keys).toMatchObject([{ key: `${theirs}/lock`, kind: 'lock', holding: 1, holders: [{ isOwn: false }] }]);
    // Known by its use, it is part of the whole.
    expect(await one.tryAcquire(`${theirs}/lock`)).toBeNull();
    const all = await one.survey({ mostKeys: 199, withinMs: LONG_MS });
    expect(all.keys.map(({ key }) => key).sort()).toEqual([`${theirs}/lock`, 'mine'].sort());
  });
});
