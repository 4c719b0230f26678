import { expect, it, onTestFinished } from 'vitest';
import type { EtcdClient } from '../../../lib/etcd/client/etcd-client.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSessions } from '../../../lib/etcd/session/etcd-sessions.js';
import { EtcdReport } from '../../../lib/etcd/session/session-report.js';
import { bytesField, intField, messageField } from './support/fields.js';

const header = messageField(1, [intField(3, 5), intField(4, 2)]);
const answer = (...fields: Buffer[]) => Buffer.concat([header, ...fields]);

/** Clients of servers whose first lease ends, and which are silent at the grant that follows on the same connection. */
function clientsThatFallSilent() {
  const seen = { clients: 0, grants: 0 };
  const open = () => {
    const rejections: ((error: Error) => void)[] = [];
    seen.clients++;
    const call = (method: string): Promise<Buffer> => {
      if (method.endsWith('Status')) return Promise.resolve(answer(bytesField(2, '3.5.21')));
      if (method.endsWith('Txn')) return Promise.resolve(answer(intField(2, true)));
      if (!method.endsWith('LeaseGrant')) return Promise.resolve(header);
      seen.grants++;
      if (seen.grants === 2) return new Promise((_, reject) => void rejections.push(reject));
      return Promise.resolve(answer(intField(2, 7 + seen.grants), intField(3, 1)));
    };
    const stream = (method: string, { onMessage }: { onMessage: (bytes: Buffer) => void }) => ({
      // Without a time to live: the lease has ended.
      write() {
        if (method.endsWith('KeepAlive')) queueMicrotask(() => onMessage(answer(intField(2, 8))));
      },
      cancel() {},
    });
    const close = () => setImmediate(() => rejections.forEach((reject) => reject(new Error('closed'))));
    return { call, stream, close, useToken() {} } as unknown as EtcdClient;
  };
  return { seen, open };
}

it('leaves a server that is silent when the next session is to begin', async () => {
  const { seen, open } = clientsThatFallSilent();
  const settings = { hosts: ['a', 'b'], user: undefined, sessionTimeoutMs: 1_200, connectTimeoutMs: 1_000 };
  const sessions = new EtcdSessions(new EtcdKeys('locks'), settings as never, open, new EtcdReport());
  onTestFinished(() => sessions.close());
  await sessions.session();
  await expect.poll(() => seen.grants).toBe(2);
  await expect.poll(() => seen.clients).toBeGreaterThan(1);
  await expect.poll(() => seen.grants).toBeGreaterThan(2);
});
