import { expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { newEntry } from '../../../lib/etcd/locks/entry.js';
import { EtcdHold } from '../../../lib/etcd/locks/etcd-hold.js';
import type { QueueViews } from '../../../lib/etcd/locks/queue-views.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import type { EtcdReport } from '../../../lib/etcd/session/session-report.js';

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
