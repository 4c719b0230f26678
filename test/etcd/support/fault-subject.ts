import { randomUUID } from 'node:crypto';
import { etcd } from '../../../lib/etcd/index.js';
import type { EtcdServer, FaultSubject } from '../../../lib/testing/index.js';
import { SESSION_MS } from './clients.js';

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Locks on this server as the checks under faults open them. */
export function etcdSubject(server: () => EtcdServer, sessionTimeoutMs = SESSION_MS): FaultSubject {
  const basePath = `faults/${randomUUID()}`;
  return {
    server,
    sessionTimeoutMs,
    open: ({ port, sessionTimeoutMs }) =>
      etcd({ hosts: `127.0.0.1:${port}`, basePath, sessionTimeoutMs, connectTimeoutMs: 5_000 }).create(),
    expire: async (key) => {
      // The holder is the first one that has lined up.
      const entries = { key: inBase64(`${basePath}/lock/${key}//`), range_end: inBase64(`${basePath}/lock/${key}/0`) };
      const asked = { ...entries, sort_target: 'CREATE', sort_order: 'ASCEND', limit: 1, keys_only: true };
      const { kvs = [] } = (await server().call('kv/range', asked)) as { kvs?: { key: string }[] };
      const [, lease = ''] = /([\da-f]+)-\d+$/.exec(Buffer.from(kvs[0]?.key ?? '', 'base64').toString()) ?? [];
      await server().call('kv/lease/revoke', { ID: String(BigInt(`0x${lease}`)) });
    },
  };
}
