/**
 * The requests that every lock on etcd needs, without any waiting: a key that ends with a lease, if there is none, and its
 * removal. It uses the same client as this package.
 */
import { clientOpener } from '../../../lib/etcd/client/etcd-client.js';
import { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import type { Locker, OpenContender } from './contender.js';

const LEASE_SECONDS = 60;
const OPEN_MS = 10_000;

export async function open(address: string): Promise<OpenContender> {
  const link = new EtcdLink(clientOpener(undefined)(address), { user: undefined, onClosed: () => {} });
  await link.open(OPEN_MS);
  const { lease } = await link.grant(LEASE_SECONDS);
  return {
    locker: (key): Locker<void> => ({
      async acquire() {
        await link.txn({
          compare: [{ key, property: 'created', is: 'equal', than: 0 }],
          success: [{ kind: 'put', key, value: '', lease }],
          failure: [],
        });
      },
      release: () => link.txn({ compare: [], success: [{ kind: 'delete', key }], failure: [] }),
    }),
    async close() {
      await link.revoke(lease);
      link.close('closed');
    },
  };
}
