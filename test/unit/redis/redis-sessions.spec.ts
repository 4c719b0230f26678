import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LinkClients } from '../../../lib/redis/client/redis-link.js';
import { LEAVE } from '../../../lib/redis/scripts/lock-scripts.js';
import { JOIN, RENEW } from '../../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { OwnEntry } from '../../../lib/redis/session/redis-session.js';
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

describe('the entries of a session that is over', () => {
  /** Sessions on a server that ends each of them, and settles for these times. Returns the entries that have left, too. */
  function endedSessions(...settlingMs: readonly number[]) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const times = [...settlingMs];
    const left: unknown[] = [];
    const scripts: Record<string, (words: readonly unknown[]) => unknown> = {
      [JOIN.sha]: () => ['JOINED', 'server', times.shift() ?? 0, '0'],
      [RENEW.sha]: () => ['GONE'],
      [LEAVE.sha]: (words) => {
        left.push(words.at(-1));
        return 'LEFT';
      },
    };
    const answers: Record<string, unknown> = { INFO: 'redis_version:7.4.0', CONFIG: [] };
    const call = async (command: string, words: readonly unknown[]) =>
      command === 'EVALSHA' ? scripts[String(words[0])]?.(words) : answers[command];
    const client = { call, async connect() {}, on() {}, async subscribe() {}, async unsubscribe() {}, disconnect() {} };
    const open = () => ({ requests: client, messages: client }) as never;
    const settings = { sessionTimeoutMs: 60_000, connectTimeoutMs: 60_000 } as never;
    const sessions = new RedisSessions(new RedisKeys('b'), settings, open, new RedisReport('redis', new Set()));
    onTestFinished(() => sessions.close());
    const nextSession = () => vi.advanceTimersByTimeAsync(11_000);
    return { sessions, left, nextSession };
  }

  const entryOf = (sessions: RedisSessions): OwnEntry => ({
    places: [{ queue: sessions.keys.queue('lock', 'k'), entry: 'entry' }],
    told() {},
    mayHaveMissed() {},
  });

  it('leave in the next session, also when there are more than an argument list can have', async () => {
    const { sessions, left, nextSession } = endedSessions(0, 0);
    const session = await sessions.session();
    const entry = entryOf(sessions);
    for (let count = 0; count < 200_000; count++) session.enter(entry);
    await nextSession();
    expect(session.isOver).toBe(true);
    expect(left.length).toBeGreaterThan(0);
  });

  it('leave in the first session whose server does not settle', async () => {
    const { sessions, left, nextSession } = endedSessions(0, 5_000, 0);
    (await sessions.session()).enter(entryOf(sessions));
    await nextSession();
    expect(left).toEqual([]);
    await nextSession();
    expect(left).toEqual(['entry']);
  });
});
