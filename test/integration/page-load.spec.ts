import { describe, inject } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { freshBasePath } from '../support/base-path.js';
import { pageLoadTests } from '../support/survey/page-load.js';
import { zooKeeperReader } from '../support/survey/request-counter.js';

describe('the load of a page on ZooKeeper', () => {
  const basePath = freshBasePath();
  pageLoadTests({
    server: async () => inject('zookeeper'),
    reader: zooKeeperReader,
    // A survey of 10,000 keys may take a slow machine longer than the default.
    backend: (connectString, sessionTimeoutMs) =>
      zookeeper({ connectString, basePath, sessionTimeoutMs, connectTimeoutMs: 60_000 }),
    // A list and a read for each of 500 keys, and what lies beside them.
    mostOfSurvey: 1_200,
  });
});
