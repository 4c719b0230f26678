import { afterEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockShutdownError } from '../../../lib/contract/errors.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { EtcdRecords } from '../../../lib/etcd/etcd-records.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import type { ChangeCall } from '../../../lib/etcd/session/etcd-session.js';
import type { EtcdSessions } from '../../../lib/etcd/session/etcd-sessions.js';
import type { Change } from '../../../lib/etcd/session/outbox.js';
import type { ReadOp } from '../../../lib/etcd/wire/requests.js';
import type { KeyValue } from '../../../lib/etcd/wire/responses.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

afterEach(() => vi.restoreAllMocks());

/** Records in a map, and the reads that a test refuses, in their order. */
function setUp(refusals: (RefusedError | undefined)[] = []) {
  const stored = new Map<string, KeyValue>();
  let revision = 1;
  const read = async (reads: readonly ReadOp[]) => {
    const refusal = refusals.shift();
    if (refusal) throw refusal;
    return { revision, term: 1, results: reads.map(({ key }) => ({ found: [stored.get(key)].filter((kv) => kv) })) };
  };
  const change = async ({ success }: Change) => {
    revision++;
    for (const op of success) {
      if (op.kind !== 'put') continue;
      const { created = revision, version = 0 } = stored.get(op.key) ?? {};
      const value = Buffer.from(op.value);
      stored.set(op.key, { key: op.key, value, created, modified: revision, version: version + 1 });
    }
    return { isMet: true, revision, term: 1, results: [] };
  };
  const inTime = (work: (signal: AbortSignal) => Promise<unknown>) => work(new AbortController().signal);
  const remove: (keys: readonly string[]) => Promise<void> = async () => {};
  const session = { read, change, key: 'locks/session/7', lease: 7n, newName: () => '7-1', remove };
  const sessions = { keys: new EtcdKeys('locks'), connected: session, inTime };
  return { records: new EtcdRecords(sessions as unknown as EtcdSessions), refusals, sessions, session };
}

describe('records', () => {
  it.each([
    ['of a server that is behind the one that was asked before', 'mvcc: required revision is a future revision'],
    ['of a server that has compacted meanwhile', 'mvcc: required revision has been compacted'],
  ])('are read again after the answer %s', async (_, message) => {
    const { records, refusals } = setUp();
    await records.write([{ name: 'r1', value: '1' }]);
    // The second part of a large read asks for the revision of the first one.
    refusals.push(undefined, new RefusedError('OUT_OF_RANGE', `etcdserver: ${message}`));
    const read = await records.readAll(Array.from({ length: 200 }, (__, number) => `r${number}`));
    expect(read.map((record) => record?.value)).toEqual([undefined, '1', ...Array<undefined>(198).fill(undefined)]);
    expect(refusals).toEqual([]);
  });

  it('that were sent when the application shut down may have been written, and the error says so', async () => {
    const { records, sessions, session } = setUp();
    const { change } = session;
    session.change = async (asked, call?: ChangeCall) => {
      await change(asked);
      if (call?.doubt) call.doubt.isSo = true;
      const session = async () => Promise.reject(new LockShutdownError());
      Object.assign(sessions, { connected: undefined, session });
      throw new SessionEndedError('closed');
    };
    await expect(records.write([{ name: 'r', value: '1' }])).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: 'the application shut down before the answer; whether the write was applied is not known',
    });
  });

  it('whose write is given up before its answer leave no mark', async () => {
    const { records, sessions, session } = setUp();
    const [limit, sent] = [new AbortController(), deferred<unknown>()];
    sessions.inTime = (work) => work(limit.signal);
    session.change = async (_, call?: ChangeCall) => {
      if (call) Object.assign(call, { sent: sent.promise, doubt: { isSo: true } });
      limit.abort(new Error('the time is over'));
      throw limit.signal.reason;
    };
    const removed: (readonly string[])[] = [];
    session.remove = async (keys) => void removed.push(keys);
    await expect(records.write([{ name: 'r', value: '1' }])).rejects.toThrow('the time is over');
    // The write may still be under way, and make it.
    expect(removed).toEqual([]);
    sent.resolve(undefined);
    await new Promise(setImmediate);
    expect(removed).toEqual([['locks/session/7-wrote-7-1']]);
  });

  it('are not read again after another refusal', async () => {
    const { records } = setUp([new RefusedError('PERMISSION_DENIED', 'etcdserver: permission denied')]);
    await expect(records.read('r')).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
  });

  it('have a time that never runs back, whatever the clocks of their writers', async () => {
    const { records } = setUp();
    const clock = vi.spyOn(Date, 'now');
    const times: (number | undefined)[] = [];
    for (const time of [50_000, 10_000, 60_000, 59_999]) {
      clock.mockReturnValue(time);
      const { records: [written] = [] } = (await records.write([{ name: 'r', value: 'v' }])) as { records?: never[] };
      times.push((written as { writtenAt: Date } | undefined)?.writtenAt.getTime());
      expect((await records.read('r'))?.writtenAt.getTime()).toBe(times.at(-1));
    }
    expect(times).toEqual([50_000, 50_000, 60_000, 60_000]);
  });
});
