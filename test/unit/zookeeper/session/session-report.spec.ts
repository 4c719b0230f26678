import { describe, expect, it } from 'vitest';
import { GrantedTimeout } from '../../../../lib/zookeeper/session/lease-clock.js';
import { ZooKeeperReport } from '../../../../lib/zookeeper/session/session-supervisor.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

function startReport() {
  const lines: string[] = [];
  const report = new ZooKeeperReport('zk1:2181,zk2:2181/app', new GrantedTimeout(10_000));
  report.logTo({
    log: (message) => lines.push(`log: ${message}`),
    warn: (message) => lines.push(`warn: ${message}`),
  });
  return { report, lines };
}

const handshake = (sessionId: bigint, timeoutMs = 10_000) => ({ sessionId, timeoutMs, sentAt: 0 });
const session = (id: bigint, leases = 0) => ({ id, leases, leftMs: 6_543.2 }) as Session;

describe('the report of a connection', () => {
  it('names the connected servers, and the session in the servers’ format', () => {
    const { report, lines } = startReport();
    report.connected(handshake(-1n));
    expect(lines).toEqual(['log: connected to zk1:2181,zk2:2181/app: session 0xffffffffffffffff, timeout 10000 ms']);
  });

  it('logs one line for an outage, and one for its end', () => {
    const { report, lines } = startReport();
    report.connected(handshake(16n));
    report.disconnected(session(16n, 3), new Error('read ECONNRESET'));
    report.disconnected(session(16n, 3), undefined);
    report.connected(handshake(16n));
    report.connected(handshake(16n));
    expect(lines.slice(1)).toEqual([
      'warn: the connection to zk1:2181,zk2:2181/app is lost (read ECONNRESET); ' +
        'held leases (3) are suspended, and lost unless a server answers within 6543 ms',
      expect.stringMatching(
        /^warn: connected again to .* after \d+ ms: session 0x10, timeout 10000 ms, the same as before$/,
      ),
    ]);
  });

  it('mentions no leases when none are held', () => {
    const { report, lines } = startReport();
    report.connected(handshake(16n));
    report.disconnected(session(16n), undefined);
    expect(lines.at(-1)).toBe('warn: the connection to zk1:2181,zk2:2181/app is lost');
  });

  it('logs why a session ended, and how long there was none', () => {
    const { report, lines } = startReport();
    report.connected(handshake(16n));
    report.ended(session(16n), 'expired');
    report.connected(handshake(17n, 4_000));
    expect(lines.slice(1)).toEqual([
      'warn: session 0x10 is over: expired. Its leases are lost; waits line up again in the next one',
      expect.stringMatching(/^warn: connected again to .*: session 0x11, timeout 4000 ms, a new one$/),
      expect.stringMatching(/^warn: the servers grant sessions of 4000 ms, sessionTimeoutMs asks for 10000/),
    ]);
  });
});
