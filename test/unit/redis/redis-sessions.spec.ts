import { expect, it, onTestFinished, vi } from 'vitest';
import type { LinkClients } from '../../../lib/redis/client/redis-link.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSessions } from '../../../lib/redis/session/redis-sessions.js';
import { RedisReport } from '../../../lib/redis/session/session-report.js';

const SETTINGS = { sessionTimeoutMs: 1_000, connectTimeoutMs: 2_000 };

/** Counts the attempts to connect to a server that takes this long to accept one. */
function slowServer(acceptMs: number) {
  const seen = { attempts: 0 };
  const answers: Record<string, unknown> = {
    INFO: 'redis_version:7.4.0',
    CONFIG: [],
    EVALSHA: ['JOINED', 'server', 0, '0'],
  };
  const connect = () => new Promise<void>((resolve) => setTimeout(resolve, acceptMs));
  const call = async (command: string) => answers[command];
  const client = { call, connect, on() {}, async subscribe() {}, disconnect() {} } as never;
  const open = (): LinkClients => {
    seen.attempts++;
    return { requests: client, messages: client };
  };
  return { seen, open };
}

it('the first connection has more time than an answer may take while leases are at stake', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { seen, open } = slowServer(600);
  const report = new RedisReport('redis', new Set());
  const sessions = new RedisSessions(new RedisKeys('b'), SETTINGS as never, open, report);
  onTestFinished(() => sessions.close());
  const session = sessions.session();
  await vi.advanceTimersByTimeAsync(700);
  expect(sessions.state).toBe('connected');
  expect(seen.attempts).toBe(1);
  expect((await session).isLinked).toBe(true);
});
