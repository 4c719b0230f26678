import { hostname } from 'node:os';
import type { EtcdLink } from '../client/etcd-link.js';
import type { EtcdSession } from './etcd-session.js';
import type { Proof } from './outbox.js';

/**
 * Binds a session to a link: changes that were sent over another link have no effect from now on. Returns `undefined`
 * when the session is over.
 * @throws LinkLostError, RefusedError
 */
export async function bind(session: EtcdSession, link: EtcdLink, time: 'first' | 'again'): Promise<Proof | undefined> {
  const { key, lease } = session;
  const value = JSON.stringify({ host: hostname(), pid: process.pid });
  const exists = { key, property: 'version', is: 'less', than: 1 } as const;
  const put = { kind: 'put', key, value, lease } as const;
  const look = { kind: 'read', key, only: 'keys' } as const;
  const { isMet, revision } = await link.txn(
    time === 'first'
      ? { compare: [exists], success: [put], failure: [look] }
      : { compare: [exists], success: [look], failure: [put] },
  );
  return isMet === (time === 'first') ? { key, revision, lease } : undefined;
}
