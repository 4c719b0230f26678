import { expect, it, onTestFinished, vi } from 'vitest';
import type { EtcdClient } from '../../../lib/etcd/client/etcd-client.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import { EtcdSessions } from '../../../lib/etcd/session/etcd-sessions.js';
import { Heartbeat } from '../../../lib/etcd/session/heartbeat.js';
import { EtcdReport } from '../../../lib/etcd/session/session-report.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { LinkClients } from '../../../lib/redis/client/redis-link.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { RedisSessions } from '../../../lib/redis/session/redis-sessions.js';
import { Renewal } from '../../../lib/redis/session/renewal.js';
import { RedisReport } from '../../../lib/redis/session/session-report.js';
import type { SessionLeases } from '../../../lib/sessions/session-leases.js';
import { granted } from '../contract/granting.js';
import { bytesField, intField, messageField } from '../etcd/support/fields.js';

const TIMEOUT_MS = 60_000;
let time = 0;

vi.mock(import('../../../lib/async/clock.js'), () => ({ now: () => time }));

/** A link without an answer. */
function silent(): never {
  const unanswered = () => new Promise<never>(() => {});
  return { run: unanswered, keepAlive: unanswered, txn: unanswered, close() {} } as never;
}

function redisSession() {
  const proof = { timeoutMs: TIMEOUT_MS, provenAt: time, serverTime: 0 };
  const session = new RedisSession('s', 'server', new RedisKeys('b'), proof, { doubted() {} });
  session.linkedBy(silent());
  const times = { sessionTimeoutMs: TIMEOUT_MS, everyMs: TIMEOUT_MS / 6 };
  return { session, renew: () => void new Renewal(session, silent(), times, () => {}).renew() };
}

function etcdSession() {
  const session = new EtcdSession(7n, { keys: new EtcdKeys('b'), timeoutMs: TIMEOUT_MS, provenAt: time, onDoubt() {} });
  const proof = { key: session.key, revision: 5n, lease: 7n } as never;
  session.linkedBy(silent(), proof);
  const options = { link: silent(), proof, everyMs: TIMEOUT_MS / 6 };
  return { session, renew: () => void new Heartbeat(session, options, () => {}).beat() };
}

const sessions = { Redis: redisSession, etcd: etcdSession };

for (const [backend, open] of Object.entries(sessions)) {
  it.each(['cut', 'renew'] as const)(`is noticed on ${backend} by its leases at once: %s`, (what) => {
    const { session, renew } = open();
    onTestFinished(() => session.end('the test is over'));
    const lease = granted();
    session.leases.add(lease);
    // The timers of a machine stand still while it is suspended.
    time += 2 * TIMEOUT_MS;
    if (what === 'cut') session.cut();
    else renew();
    expect(lease.state).toBe('lost');
  });
}

/** Opens a client whose server grants a lease and is silent then. Every later client is refused. */
function clientOnce(): () => EtcdClient {
  const header = messageField(1, [intField(3, 5), intField(4, 2)]);
  const answers: Record<string, readonly Buffer[]> = {
    Status: [bytesField(2, '3.5.21')],
    LeaseGrant: [intField(2, 7), intField(3, TIMEOUT_MS / 1_000)],
    Txn: [intField(2, true)],
  };
  const call = async (method: string) =>
    Buffer.concat([header, ...(Object.entries(answers).find(([name]) => method.endsWith(name))?.[1] ?? [])]);
  const stream = () => ({ write() {}, cancel() {} });
  const clients = [{ call, stream, close() {}, useToken() {} } as unknown as EtcdClient];
  return () => {
    const client = clients.pop();
    if (!client) throw new Error('connection refused');
    return client;
  };
}

/** Opens the clients of a link whose server begins a session and is silent then. All later attempts are refused. */
function clientsOnce(): () => LinkClients {
  const answers: Record<string, unknown> = { INFO: 'redis_version:7.4.0', CONFIG: [] };
  const scripts: unknown[] = [['JOINED', 'server', 0, '0']];
  const call = async (command: string) =>
    command === 'EVALSHA' ? (scripts.pop() ?? new Promise<never>(() => {})) : answers[command];
  const client = { call, on() {}, async connect() {}, async subscribe() {}, disconnect() {} } as never;
  const links: LinkClients[] = [{ requests: client, messages: client }];
  return () => {
    const link = links.pop();
    if (!link) throw new Error('connection refused');
    return link;
  };
}

const connecting = { sessionTimeoutMs: TIMEOUT_MS, connectTimeoutMs: 1_000 };
const backends = {
  Redis: () =>
    new RedisSessions(new RedisKeys('b'), connecting as never, clientsOnce(), new RedisReport('redis', new Set())),
  etcd: () =>
    new EtcdSessions(new EtcdKeys('b'), { ...connecting, hosts: ['a'] } as never, clientOnce(), new EtcdReport()),
};

/** A session with a lease whose link is lost, while no server answers. */
async function cutOff(backend: keyof typeof backends) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const sessions = backends[backend]();
  const session: { readonly leases: SessionLeases; readonly deadline: number } = await sessions.session();
  const lease = granted();
  session.leases.add(lease);
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 2);
  expect(lease.state).toBe('suspended');
  return { sessions, session, lease };
}

it.each(['Redis', 'etcd'] as const)('is noticed by leases on %s with the next attempt to connect', async (backend) => {
  const { sessions, lease } = await cutOff(backend);
  time += 2 * TIMEOUT_MS;
  // The timer of the lease is not due for half a minute.
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 10);
  expect(lease.state).toBe('lost');
  expect(sessions.state).toBe('lost');
  await sessions.close();
});

it.each(['Redis', 'etcd'] as const)('moves the timer of leases on %s with the next attempt', async (backend) => {
  const { sessions, session, lease } = await cutOff(backend);
  const leftMs = 100;
  time = session.deadline - leftMs;
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 10);
  expect(lease.state).toBe('suspended');
  time = session.deadline;
  await vi.advanceTimersByTimeAsync(leftMs);
  expect(lease.state).toBe('lost');
  await sessions.close();
});
