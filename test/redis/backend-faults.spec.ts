import { afterAll, beforeAll, describe, it } from 'vitest';
import { backendFaults, RedisServer } from '../../lib/testing/index.js';
import { redisSubject, settleSoon } from './support/fault-subject.js';

let server: RedisServer;

const subject = redisSubject(() => server);

beforeAll(async () => {
  server = await RedisServer.start();
  await settleSoon(subject);
});

afterAll(() => server.stop());

describe('locks by Redis', () => {
  backendFaults({ describe, it }, subject);
});
