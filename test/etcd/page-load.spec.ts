import { randomUUID } from 'node:crypto';
import { describe, onTestFinished } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { pageLoadTests } from '../support/survey/page-load.js';
import { etcdReader } from '../support/survey/request-counter.js';

describe('the load of a page on etcd', () => {
  const basePath = randomUUID();
  pageLoadTests({
    server: async () => {
      const server = await EtcdServer.start();
      onTestFinished(() => server.stop());
      return server.host;
    },
    reader: etcdReader,
    backend: (host, sessionTimeoutMs) => etcd({ hosts: host, basePath, sessionTimeoutMs }),
    // Two pages of keys, and one request each for what else there is.
    mostOfSurvey: 8,
  });
});
