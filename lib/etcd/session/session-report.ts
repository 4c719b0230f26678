import { SessionReport } from '../../sessions/session-report.js';
import type { EtcdSession } from './etcd-session.js';

/** The report on the sessions of a cluster. */
export class EtcdReport extends SessionReport {
  constructor() {
    super('a majority');
  }

  /** Warns once of leases that are longer than asked for: the servers have a least time, by their election timeout. */
  granted(grantedMs: number, askedMs: number): void {
    if (grantedMs <= askedMs) return;
    this.warn([
      `the etcd servers grant leases of ${grantedMs} ms, sessionTimeoutMs asks for ${askedMs}: the locks of a dead ` +
        'process stay for that long (the least is one and a half --election-timeout of the servers)',
    ]);
  }

  served({ id, timeoutMs }: EtcdSession, host: string): void {
    this.connected(`etcd at ${host}`, { sessionId: id, sessionTimeoutMs: timeoutMs, server: host });
  }
}
