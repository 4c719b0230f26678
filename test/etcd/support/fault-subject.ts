import { randomUUID } from 'node:crypto';
import { etcd } from '../../../lib/etcd/index.js';
import type { EtcdServer, FaultSubject } from '../../../lib/testing/index.js';
import { revokeLeaseOf, SESSION_MS } from './clients.js';

/**
 * Locks on this server as the checks under faults open them.
 * @param make the backend, or a copy of it with a defect
 */
export function etcdSubject(server: () => EtcdServer, sessionTimeoutMs = SESSION_MS, make = etcd): FaultSubject {
  const basePath = `faults/${randomUUID()}`;
  return {
    server,
    sessionTimeoutMs,
    open: ({ port, sessionTimeoutMs }) =>
      make({ hosts: `127.0.0.1:${port}`, basePath, sessionTimeoutMs, connectTimeoutMs: 5_000 }).create(),
    // The holder is the first one that has lined up.
    expire: (key) => revokeLeaseOf(server(), `${basePath}/lock/${key}//`, 'first'),
  };
}
