import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { RedisServer } from '../../lib/testing/index.js';
import { surveyTests } from '../support/survey/survey-checks.js';
import { clientsOf, hold } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

describe('a survey of Redis', () => {
  const base = `locks/${randomUUID()}`;
  surveyTests(
    (place, { host, ...settings } = {}) => {
      const url = host === undefined ? server.url : `redis://${host}`;
      return redis({ url, basePath: `${base}/${place}`, restartDelayMs: 0, ...settings }).create();
    },
    () => `127.0.0.1:${server.port}`,
  );

  it('takes characters of patterns for what they are', async () => {
    const client = clientsOf({ basePath: `odd[x]*?/${randomUUID()}`, restartDelayMs: 0 })(server.url);
    for (const key of ['a*b', 'aXb', 'a[b]', 'a\\b', 'h:lock:x']) await hold(client, key);
    const bounds = { mostKeys: 100, mostContenders: 3, withinMs: 30_000, signal: new AbortController().signal };
    const keysOf = async (prefix: string) => (await client.survey!({ ...bounds, prefix })).keys.map(({ key }) => key);
    expect(await keysOf('a*')).toEqual(['a*b']);
    expect(await keysOf('a[')).toEqual(['a[b]']);
    expect(await keysOf('a\\')).toEqual(['a\\b']);
    expect(await keysOf('h:')).toEqual(['h:lock:x']);
  });
});
