import { randomUUID } from 'node:crypto';
import { redis } from '../../../lib/redis/index.js';
import type { FaultSubject, RedisServer } from '../../../lib/testing/index.js';
import type { RedisOptions } from '../../../lib/redis/index.js';
import { hold, SESSION_MS } from './clients.js';

/** Locks on this server as the checks under faults open them. */
export function redisSubject(server: () => RedisServer, options: RedisOptions = {}): FaultSubject {
  const basePath = `faults/${randomUUID()}`;
  return {
    server,
    sessionTimeoutMs: SESSION_MS,
    open: ({ port, sessionTimeoutMs }) =>
      redis({
        url: `redis://127.0.0.1:${port}`,
        basePath,
        sessionTimeoutMs,
        connectTimeoutMs: 5_000,
        ...options,
      }).create(),
    expire: async (key) => {
      const [, entry = ''] =
        /^x\|([^|]+)\|/m.exec(await server().ask('ZRANGE', `{${basePath}}:h:lock:${key}`, '0', '-1')) ?? [];
      await server().ask('ZREM', `{${basePath}}:s`, entry);
    },
  };
}

/**
 * Holds a key once with the shortest session. A server that has just started settles for as long as the longest session of
 * its clients lasts. So the others connect after that.
 */
export async function settleSoon({ open, server, sessionTimeoutMs }: FaultSubject): Promise<void> {
  const first = await open({ port: server().port, sessionTimeoutMs });
  await (await hold(first, 'settled')).release();
  await first.close();
}
