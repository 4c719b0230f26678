/**
 * The smallest fair lock on Redis: a list of callers, and one message to the next one. It has no sessions, no tokens and
 * no check: a caller that dies stops all others. It says what fairness costs by itself.
 */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Locker, OpenContender } from './contender.js';

const JOIN = `return redis.call('RPUSH', KEYS[1], ARGV[1])`;
const LEAVE = `
  redis.call('LPOP', KEYS[1])
  local next = redis.call('LINDEX', KEYS[1], 0)
  if next then redis.call('PUBLISH', string.match(next, '^[^:]+'), next) end
  return 1`;

export async function open(address: string): Promise<OpenContender> {
  const redis = new Redis(`redis://${address}`, { lazyConnect: true });
  const messages = new Redis(`redis://${address}`, { lazyConnect: true });
  await Promise.all([redis.connect(), messages.connect()]);
  const join = String(await redis.script('LOAD', JOIN));
  const leave = String(await redis.script('LOAD', LEAVE));
  const channel = randomUUID();
  const turns = new Map<string, () => void>();
  messages.on('message', (_channel, caller: string) => turns.get(caller)?.());
  await messages.subscribe(channel);
  let callers = 0;
  return {
    locker: (key): Locker<unknown> => {
      const caller = `${channel}:${++callers}`;
      return {
        async acquire() {
          // The message may be faster than the answer: they have a connection each.
          const turn = new Promise<void>((resolve) => turns.set(caller, resolve));
          if (Number(await redis.evalsha(join, 1, key, caller)) > 1) await turn;
        },
        release: () => redis.evalsha(leave, 1, key),
      };
    },
    close: () => Promise.all([redis.quit(), messages.quit()]),
  };
}
