import { LockConfigurationError } from '../../contract/errors.js';
import type { RedisLink } from '../client/redis-link.js';

const OLDEST = [6, 2] as const;

/**
 * Checks that a server can be trusted with locks. Returns warnings for an operator. Costs one request at each
 * connection.
 * @throws LockConfigurationError that says what to change, LinkLostError, RefusedError
 */
export async function checkServer(
  link: RedisLink,
  { allowEviction, plainLocks }: { readonly allowEviction: boolean; readonly plainLocks: boolean },
): Promise<readonly string[]> {
  const info = parseInfo(String(await link.ask('INFO')));
  checkVersion(info.get('redis_version') ?? '');
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  const isLimited = Number(info.get('maxmemory') ?? 0) > 0;
  // A plain lock has an expiry, so that the volatile policies remove it as well.
  const isRemoved = policy.startsWith('allkeys-') || (plainLocks && policy !== 'noeviction');
  if (isRemoved && isLimited && !allowEviction) {
    const others = plainLocks ? ', or leave out plainLocks' : ', or to one of the volatile policies';
    const change = `set maxmemory-policy to noeviction${others}`;
    throw new LockConfigurationError(`the Redis server removes keys when its memory is full (${policy}): ${change}`);
  }
  return warningsOf(info);
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return;
  const change = `redis() needs Redis ${OLDEST.join('.')} or later, or Valkey: upgrade the server`;
  throw new LockConfigurationError(`the Redis server has version ${version}; ${change}`);
}

function warningsOf(info: ReadonlyMap<string, string>): readonly string[] {
  const hasReplicas = Number(info.get('connected_slaves') ?? 0) > 0;
  // The server tells this number only when `min-replicas-to-write` is set.
  if (!hasReplicas || info.has('min_slaves_good_slaves')) return [];
  return [
    'the Redis server has replicas, and min-replicas-to-write is not set: when the network is split and a replica is ' +
      'promoted, both servers grant locks. Set min-replicas-to-write to 1, and min-replicas-max-lag below ' +
      'down-after-milliseconds of the sentinels',
  ];
}

/** Returns the fields of the answer to `INFO`. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const pairs = text.split('\r\n').flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
  });
  return new Map(pairs);
}
