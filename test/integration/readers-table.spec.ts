import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { freshBasePath } from '../support/base-path.js';
import { READERS_TABLE } from '../support/sharing/readers-table.js';
import type { TwoBackends } from '../support/sharing/readers-table.js';

describe('locks by ZooKeeper: readers of one process', () => {
  let backends: TwoBackends;

  beforeAll(async () => {
    const made = zookeeper({ connectString: inject('zookeeper'), basePath: freshBasePath() });
    backends = { one: made.create(), other: made.create() };
    await Promise.all([backends.one.connect(), backends.other.connect()]);
  });

  afterAll(() => Promise.all([backends.one.close(), backends.other.close()]));

  it.each(READERS_TABLE)('$title', async ({ run }) => {
    await expect(run(backends)).resolves.toBeUndefined();
  });
});
