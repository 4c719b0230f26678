import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { etcd } from '../../../lib/etcd/index.js';
import type { EtcdOptions } from '../../../lib/etcd/index.js';
import type { EtcdServer } from '../../../lib/testing/index.js';

/** The session timeout of tests that wait for the end of a session. */
export const SESSION_MS = 2_000;

/** Longer than the stalls of a busy machine: a test that is about the end of this time sets its own. */
const CONNECT_MS = 30_000;

/**
 * Opens clients of one base path, and closes them when the test ends.
 * @param make the backend, or a copy of it with a defect
 */
export function clientsOf(
  options: EtcdOptions = {},
  make: typeof etcd = etcd,
): {
  basePath: string;
  open: (hosts: string | readonly string[], changes?: EtcdOptions) => LockBackend;
} {
  const basePath = `test/${randomUUID()}`;
  const open = (hosts: string | readonly string[], changes?: EtcdOptions) => {
    const times = { sessionTimeoutMs: SESSION_MS, connectTimeoutMs: CONNECT_MS };
    const backend = make({ hosts, basePath, ...times, ...options, ...changes }).create();
    onTestFinished(() => backend.close());
    return backend;
  };
  return { basePath, open };
}

/** A request for a key, which waits unless it is told otherwise. */
export function requestFor(key: string, changes: Partial<LockRequest> = {}): LockRequest {
  const { signal } = new AbortController();
  return { key, mode: 'exclusive', line: 'fifo', wait: true, signal, ...changes };
}

export async function hold(client: LockBackend, key: string, changes?: Partial<LockRequest>): Promise<GrantedLease> {
  const lease = await client.acquire(requestFor(key, changes));
  if (!lease) throw new Error('the key is not free');
  return lease;
}

/** Resolves with the time at which the lease was lost. */
export function lossOf(lease: GrantedLease): Promise<number> {
  return new Promise((resolve) => lease.onLost(() => resolve(performance.now())));
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** The keys on the server that begin with a text, which ends with a slash. */
export async function keysBelow(server: EtcdServer, prefix: string): Promise<readonly string[]> {
  const request = { key: inBase64(prefix), range_end: inBase64(`${prefix.slice(0, -1)}0`), keys_only: true };
  const { kvs = [] } = (await server.call('kv/range', request)) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

/** Ends the lease of the one session below a base path, as an operator would. */
export async function revokeLease(server: EtcdServer, basePath: string): Promise<void> {
  const [session = ''] = await keysBelow(server, `${basePath}/session/`);
  await revoke(server, session.slice(session.lastIndexOf('/') + 1));
}

/** Ends a lease. @param lease its id in hexadecimal digits */
export async function revoke(server: EtcdServer, lease: string): Promise<void> {
  await server.call('kv/lease/revoke', { ID: String(BigInt(`0x${lease}`)) });
}

/**
 * Ends the lease that an entry of a wait queue belongs to.
 * @param prefix the beginning of the entries' keys, which ends with a slash
 */
export async function revokeLeaseOf(server: EtcdServer, prefix: string, entry: 'first' | 'last'): Promise<void> {
  const range = { key: inBase64(prefix), range_end: inBase64(`${prefix.slice(0, -1)}0`) };
  const order = { sort_target: 'CREATE', sort_order: entry === 'first' ? 'ASCEND' : 'DESCEND', limit: 1 };
  const asked = { ...range, ...order, keys_only: true };
  const { kvs = [] } = (await server.call('kv/range', asked)) as { kvs?: { key: string }[] };
  const [, lease = ''] = /([\da-f]+)-\d+$/.exec(Buffer.from(kvs[0]?.key ?? '', 'base64').toString()) ?? [];
  await revoke(server, lease);
}

/** Compacts the history up to the present revision. */
export async function compact(server: EtcdServer): Promise<void> {
  const { header } = (await server.call('kv/range', { key: inBase64('any') })) as { header: { revision: string } };
  await server.call('kv/compaction', { revision: header.revision, physical: true });
}

/** Reads a key of no backend. */
export async function read(server: EtcdServer, key: string): Promise<string | undefined> {
  const { kvs = [] } = (await server.call('kv/range', { key: inBase64(key) })) as { kvs?: { value?: string }[] };
  return kvs[0] && Buffer.from(kvs[0].value ?? '', 'base64').toString();
}

/** Writes a key of no backend, so that the revision grows. */
export async function write(server: EtcdServer, key: string, value: string): Promise<void> {
  await server.call('kv/put', { key: inBase64(key), value: inBase64(value) });
}

/** Writes a key once more, with the lease that it has. */
export async function writeAgain(server: EtcdServer, key: string): Promise<void> {
  await server.call('kv/put', { key: inBase64(key), value: inBase64('again'), ignore_lease: true });
}
