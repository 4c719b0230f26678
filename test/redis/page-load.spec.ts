import { randomUUID } from 'node:crypto';
import { describe, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { RENEW } from '../../lib/redis/scripts/session-scripts.js';
import { RedisServer } from '../../lib/testing/index.js';
import { pageLoadTests } from '../support/survey/page-load.js';
import { redisReader } from '../support/survey/request-counter.js';

describe('the load of a page on Redis', () => {
  const basePath = randomUUID();
  pageLoadTests({
    server: async () => {
      const server = await RedisServer.start();
      onTestFinished(() => server.stop());
      return `127.0.0.1:${server.port}`;
    },
    reader: () => redisReader(RENEW.sha),
    backend: (host, sessionTimeoutMs) =>
      redis({ url: `redis://${host}`, basePath, sessionTimeoutMs, restartDelayMs: 0 }),
    // A page of names, and one script for each 20 of 500.
    mostOfSurvey: 60,
  });
});
