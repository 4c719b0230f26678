import { expect, it, onTestFinished, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import type { EtcdClient } from '../../../lib/etcd/client/etcd-client.js';
import { CallError } from '../../../lib/etcd/client/etcd-error.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSessions } from '../../../lib/etcd/session/etcd-sessions.js';
import { EtcdReport } from '../../../lib/etcd/session/session-report.js';
import { leaseRequest } from '../../../lib/etcd/wire/requests.js';
import { bytesField, intField, messageField } from './support/fields.js';

const header = messageField(1, [intField(3, 5), intField(4, 2)]);
const answer = (...fields: Buffer[]) => Buffer.concat([header, ...fields]);

const TTL_S = 1;

/** A client of a server that answers what is needed for a session. @param call its own answers, by method */
function clientOf(
  call: (method: string, message: Buffer) => Promise<Buffer> | undefined,
  others: Partial<EtcdClient> = {},
): EtcdClient {
  const usual = (method: string) => {
    if (method.endsWith('Status')) return answer(bytesField(2, '3.5.21'));
    return method.endsWith('Txn') ? answer(intField(2, true)) : header;
  };
  const stream = () => ({ write() {}, cancel() {} });
  const client = { stream, close() {}, useToken() {}, ...others };
  return {
    ...client,
    call: async (method: string, message: Buffer) => (await call(method, message)) ?? usual(method),
  } as unknown as EtcdClient;
}

function sessionsOn(hosts: readonly string[], open: () => EtcdClient): EtcdSessions {
  const settings = { hosts, user: undefined, sessionTimeoutMs: TTL_S * 1_200, connectTimeoutMs: 1_000 };
  const sessions = new EtcdSessions(new EtcdKeys('locks'), settings as never, open, new EtcdReport());
  onTestFinished(() => sessions.close());
  return sessions;
}

/** Clients of servers whose first lease ends, and which are silent at the grant that follows on the same connection. */
function clientsThatFallSilent() {
  const seen = { clients: 0, grants: 0 };
  const open = () => {
    const rejections: ((error: Error) => void)[] = [];
    seen.clients++;
    const call = (method: string) => {
      if (!method.endsWith('LeaseGrant')) return undefined;
      seen.grants++;
      if (seen.grants === 2) return new Promise<Buffer>((_, reject) => void rejections.push(reject));
      return Promise.resolve(answer(intField(2, 7 + seen.grants), intField(3, TTL_S)));
    };
    const stream = (method: string, { onMessage }: { onMessage: (bytes: Buffer) => void }) => ({
      // Without a time to live: the lease has ended.
      write() {
        if (method.endsWith('KeepAlive')) queueMicrotask(() => onMessage(answer(intField(2, 8))));
      },
      cancel() {},
    });
    const close = () => setImmediate(() => rejections.forEach((reject) => reject(new Error('closed'))));
    return clientOf(call, { stream, close } as never);
  };
  return { seen, open };
}

/** Clients of a server that renews no lease, and that can be down. */
function clientsThatRenewNothing() {
  const seen = { isDown: false, grants: 0, revoked: [] as Buffer[] };
  const open = () => {
    if (seen.isDown) throw new Error('connection refused');
    let isClosed = false;
    const call = (method: string, message: Buffer) => {
      if (isClosed) throw new Error('closed');
      if (method.endsWith('LeaseRevoke')) seen.revoked.push(message);
      if (!method.endsWith('LeaseGrant')) return undefined;
      return Promise.resolve(answer(intField(2, 7 + ++seen.grants), intField(3, TTL_S)));
    };
    return clientOf(call, { close: () => void (isClosed = true) });
  };
  return { seen, open };
}

/** Clients of a server that refuses the end of a lease once, and that proves no renewal. */
function clientsThatRefuseARevocation() {
  const seen = { revoked: [] as Buffer[] };
  let grants = 0;
  const refuse = () => Promise.reject(new CallError(8, 'etcdserver: too many requests'));
  const call = (method: string, message: Buffer) => {
    if (method.endsWith('LeaseRevoke') && seen.revoked.push(message) === 1) return refuse();
    if (method.endsWith('Range') && grants > 1) return refuse();
    return method.endsWith('LeaseGrant')
      ? Promise.resolve(answer(intField(2, 7 + ++grants), intField(3, TTL_S)))
      : undefined;
  };
  const stream = (_: string, { onMessage }: { onMessage: (bytes: Buffer) => void }) => ({
    // Without a time to live: the first lease has ended.
    write: () => queueMicrotask(() => onMessage(answer(intField(2, 8), ...(grants > 1 ? [intField(3, TTL_S)] : [])))),
    cancel() {},
  });
  return { seen, open: () => clientOf(call, { stream } as never) };
}

/** Clients of a server whose first connection is lost. @param bind the answer to a binding of a session to a later one */
function clientsCutOnce(bind: () => Promise<Buffer>) {
  const seen = { clients: 0, grants: 0, revoked: [] as Buffer[] };
  const open = () => {
    const isFirst = ++seen.clients === 1;
    const call = (method: string, message: Buffer) => {
      if (method.endsWith('LeaseRevoke')) seen.revoked.push(message);
      if (method.endsWith('LeaseGrant'))
        return Promise.resolve(answer(intField(2, 7 + ++seen.grants), intField(3, TTL_S)));
      return isFirst || !method.endsWith('Txn') ? undefined : bind();
    };
    const stream = (method: string, { onEnd }: { onEnd: (error: Error) => void }) => ({
      write() {
        if (isFirst && method.endsWith('KeepAlive')) queueMicrotask(() => onEnd(new CallError(14, 'cut')));
      },
      cancel() {},
    });
    return clientOf(call, { stream } as never);
  };
  return { seen, open };
}

it('ends the lease when it is closed while it binds the session to another connection', async () => {
  const bind = vi.fn(() => new Promise<Buffer>(() => {}));
  const { seen, open } = clientsCutOnce(bind);
  const sessions = sessionsOn(['a'], open);
  await sessions.session();
  await expect.poll(() => bind.mock.calls.length).toBe(1);
  await sessions.close();
  expect(seen.revoked).toEqual([leaseRequest(8n)]);
});

it('loses a session at its deadline, and not before, when a server with a full database does not bind it', async () => {
  let isFull = true;
  const bind = async () => {
    if (isFull) throw new CallError(8, 'etcdserver: mvcc: database space exceeded');
    return answer(intField(2, true));
  };
  const sessions = sessionsOn(['a'], clientsCutOnce(bind).open);
  const session = await sessions.session();
  const { deadline } = session;
  const ended = new Promise<number>((resolve) => session.onEnd(() => resolve(now())));
  await expect.poll(() => sessions.state).toBe('suspended');
  await expect(sessions.session()).rejects.toThrow('database space exceeded');
  expect(await ended).toBeGreaterThanOrEqual(deadline);
  isFull = false;
  await expect.poll(() => sessions.state, { timeout: 10_000 }).toBe('connected');
  expect(await sessions.session()).not.toBe(session);
});

it('leaves a server that is silent when the next session is to begin', async () => {
  const { seen, open } = clientsThatFallSilent();
  await sessionsOn(['a', 'b'], open).session();
  await expect.poll(() => seen.grants).toBe(2);
  await expect.poll(() => seen.clients).toBeGreaterThan(1);
  await expect.poll(() => seen.grants).toBeGreaterThan(2);
});

it('ends on the servers, when one answers again, the lease of a session that was over before', async () => {
  const { seen, open } = clientsThatRenewNothing();
  const sessions = sessionsOn(['a'], open);
  await sessions.session();
  seen.isDown = true;
  await expect.poll(() => sessions.state, { timeout: 10_000 }).toBe('lost');
  expect(seen.revoked).toEqual([]);
  seen.isDown = false;
  await expect.poll(() => seen.grants, { timeout: 10_000 }).toBe(2);
  expect(seen.revoked).toEqual([leaseRequest(8n)]);
});

it('ends the lease of a former session once more when the server has refused that', async () => {
  const { seen, open } = clientsThatRefuseARevocation();
  await sessionsOn(['a'], open).session();
  await expect.poll(() => seen.revoked.slice(0, 2)).toEqual([leaseRequest(8n), leaseRequest(8n)]);
});
