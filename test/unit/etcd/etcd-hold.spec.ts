import { expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { entryOf, newEntry } from '../../../lib/etcd/locks/entry.js';
import { EtcdHold } from '../../../lib/etcd/locks/etcd-hold.js';
import type { QueueViews } from '../../../lib/etcd/locks/queue-views.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import type { EtcdReport } from '../../../lib/etcd/session/session-report.js';
import type { KeyValue } from '../../../lib/etcd/wire/responses.js';

/** A held entry of a session without a connection. */
function setUp() {
  const keys = new EtcdKeys('locks');
  const session = new EtcdSession(7n, { keys, timeoutMs: 10_000, provenAt: now(), onDoubt() {} });
  const value = newEntry({ mode: 'write', permits: 1, most: 1, label: undefined });
  const entry = { ...value, key: 'locks/lock/k//7-1', created: 5, modified: 5 };
  const views = { follow: () => () => {} } as unknown as QueueViews;
  const staysWriter = vi.fn();
  const report = { staysWriter } as unknown as EtcdReport;
  const wanted = { name: 'k', queue: keys.queue('lock', 'k'), entry: value, releaseTimeoutMs: 1_000, views, report };
  const hold = new EtcdHold(session, entry, undefined, wanted);
  const placed = (isWanted: boolean) => hold.placed({ entry, isTurn: true, isWanted });
  return { session, hold, placed, staysWriter };
}

it('a hold whose former listener leaves tells the present one that another entry waits', async () => {
  const { hold, placed } = setUp();
  const [former, present, onNone] = [vi.fn(), vi.fn(), vi.fn()];
  const leave = hold.demand?.watch(former, () => {});
  hold.demand?.watch(present, onNone);
  leave?.();
  await new Promise(setImmediate);
  placed(false);
  placed(true);
  expect([former, present, onNone].map(({ mock }) => mock.calls.length)).toEqual([0, 1, 1]);
});

it('a hold tells nothing to a listener that has left', async () => {
  const { hold, placed } = setUp();
  const [onDemand, onNone] = [vi.fn(), vi.fn()];
  hold.demand?.watch(onDemand, onNone)();
  await new Promise(setImmediate);
  placed(false);
  placed(true);
  expect([onDemand, onNone].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

it.each([
  ['a held writer stays one is logged', false, [['k', 'etcdserver: too many requests']]],
  ['a writer that was released meanwhile stays one is not logged', true, []],
])('that %s', async (_, isReleased, logged) => {
  const { session, hold, staysWriter } = setUp();
  const refusal = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: too many requests');
  vi.spyOn(session, 'change').mockImplementationOnce(async () => {
    if (isReleased) void hold.lease.release();
    throw refusal;
  });
  await hold.downgrade();
  expect(staysWriter.mock.calls).toEqual(logged);
  session.end('the test is over');
});

it('publishes values in the order of the calls', async () => {
  const { session, hold } = setUp();
  let stored: KeyValue = { key: 'locks/lock/k//7-1', value: Buffer.from('{}'), created: 5, modified: 5, version: 1 };
  let calls = 0;
  vi.spyOn(session, 'change').mockImplementation(async ({ compare, success }) => {
    // The second request would arrive before the first one.
    if (++calls === 1) await new Promise(setImmediate);
    const [put] = success;
    const isMet = compare[0]?.than === stored.modified;
    const { modified, version } = stored;
    if (isMet && put?.kind === 'put') {
      stored = { ...stored, value: Buffer.from(put.value), modified: modified + 1, version: version + 1 };
    }
    const read = { kind: 'read', found: [stored], hasMore: false, count: 1 } as const;
    return { isMet, revision: stored.modified, term: 1, results: isMet ? [] : [read] };
  });
  expect(await Promise.all([hold.proclaim('former'), hold.proclaim('present')])).toEqual([true, true]);
  expect(entryOf(stored).proclaimed).toBe('present');
});

it('publishes the next value after one was refused', async () => {
  const { session, hold } = setUp();
  const refusal = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: too many requests');
  const met = { isMet: true, revision: 9, term: 1, results: [] };
  vi.spyOn(session, 'change').mockRejectedValueOnce(refusal).mockResolvedValueOnce(met);
  const [former, present] = await Promise.allSettled([hold.proclaim('former'), hold.proclaim('present')]);
  expect([former, present]).toMatchObject([{ reason: refusal }, { value: true }]);
});
