import { SessionReport } from '../../sessions/session-report.js';
import type { RedisSession } from './redis-session.js';

/** The report on the sessions of one server. */
export class RedisReport extends SessionReport {
  /** The server, for messages, without its password. */
  readonly server: string;

  /** @param warned the warnings that were logged, which the reports of several shards share */
  constructor(server: string, warned: Set<string>) {
    super('a server', warned);
    this.server = server;
  }

  served({ id }: RedisSession, sessionTimeoutMs: number): void {
    this.connected(`Redis at ${this.server}`, { sessionId: id, sessionTimeoutMs, server: this.server });
  }

  joined(settlingMs: number): void {
    if (settlingMs <= 0) return;
    this.warnAgain(`the Redis server is new, or was restarted or promoted: it grants free keys in ${settlingMs} ms`);
  }

  replaced(): void {
    this.warnAgain('another Redis server answers: held leases are written down there, waits line up again');
  }
}
