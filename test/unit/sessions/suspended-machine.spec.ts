import { expect, it, onTestFinished, vi } from 'vitest';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import { Heartbeat } from '../../../lib/etcd/session/heartbeat.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { Renewal } from '../../../lib/redis/session/renewal.js';
import { granted } from '../contract/granting.js';

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
