import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { backendContract, RedisServer } from '../../lib/testing/index.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

describe('locks by Redis', () => {
  const basePath = `locks/${randomUUID()}`;
  backendContract(
    { describe, it },
    {
      open: () => redis({ url: server.url, basePath, restartDelayMs: 0 }).create(),
      limitMs: 30_000,
    },
  );
});
