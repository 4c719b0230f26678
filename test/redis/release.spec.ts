import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LEAVE } from '../../lib/redis/scripts/lock-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { RedisServer } from '../../lib/testing/index.js';

const KEYS = new RedisKeys('test/release');
const QUEUE = KEYS.queue('lock', 'k');
const [HOLDERS, WAITING] = QUEUE;
const ANOTHER_SERVER = '0'.repeat(40);
const OWN = 'x|session|1|1|1|0|';
const NEXT = 'x|other|1|1|1|0|';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

beforeEach(async () => {
  await server.ask('FLUSHALL');
  await server.ask('ZADD', HOLDERS, '1', OWN);
});

/** Releases by a caller that knows another server, and whose session is on no record. */
function release(): Promise<string> {
  const keys = [KEYS.sessions, KEYS.server, ...QUEUE];
  return server.ask('EVAL', LEAVE.text, String(keys.length), ...keys, ANOTHER_SERVER, 'session', '1', OWN);
}

describe('a release that was meant for another server', () => {
  it('removes the entry while nobody waits: nothing is granted by it', async () => {
    expect(await release()).toContain('LEFT');
    expect(await server.ask('EXISTS', HOLDERS)).toBe(':0\r\n');
  });

  it('hands nothing over, and changes nothing', async () => {
    await server.ask('RPUSH', WAITING, NEXT);
    expect(await release()).toContain('NEWSERVER');
    expect(await server.ask('ZSCORE', HOLDERS, OWN)).toContain('1');
    expect(await server.ask('LLEN', WAITING)).toBe(':1\r\n');
  });
});
