import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { redis } from '../../../lib/redis/index.js';
import type { RedisOptions } from '../../../lib/redis/index.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';

/** The session timeout of tests that wait for the end of a session. */
export const SESSION_MS = 2_000;

/** Opens clients of one base path, and closes them when the test ends. */
export function clientsOf(options: RedisOptions): (url: string, changes?: RedisOptions) => LockBackend {
  const basePath = `test/${randomUUID()}`;
  return (url, changes) => {
    const backend = redis({ url, basePath, sessionTimeoutMs: SESSION_MS, ...options, ...changes }).create();
    onTestFinished(() => backend.close());
    return backend;
  };
}

/** A request for a key, which waits unless it is told otherwise. */
export function requestFor(key: string, changes: Partial<LockRequest> = {}): LockRequest {
  const { signal } = new AbortController();
  return { key, mode: 'exclusive', line: 'fifo', wait: true, signal, ...changes };
}

export async function hold(client: LockBackend, key: string, changes?: Partial<LockRequest>): Promise<GrantedLease> {
  const lease = await client.acquire(requestFor(key, changes));
  if (!lease) throw new Error('the key is not free');
  return lease;
}

/** Collects what the client logs about servers that grant no free key yet. */
export function settlingSeenBy(client: LockBackend): readonly string[] {
  const seen: string[] = [];
  client.logTo?.({
    log: () => {},
    warn: (message) => void (message.includes('grants free keys in') && seen.push(message)),
  });
  return seen;
}

/** Resolves with the time at which the lease was lost. */
export function lossOf(lease: GrantedLease): Promise<number> {
  return new Promise((resolve) => lease.onLost(() => resolve(performance.now())));
}
