import { expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { NEVER } from '../../../lib/async/abort.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { acquireOne, acquireSet } from '../../../lib/etcd/locks/acquire.js';
import { Contender, EntryGoneError } from '../../../lib/etcd/locks/contender.js';
import type { ViewFollower } from '../../../lib/etcd/locks/queue-view.js';
import type { QueueViews } from '../../../lib/etcd/locks/queue-views.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';

it('a contender whose entry is not seen any more removes it, and gives its name back', async () => {
  const keys = new EtcdKeys('locks');
  const session = new EtcdSession(7n, { keys, timeoutMs: 10_000, provenAt: now(), onDoubt() {} });
  const change = vi.spyOn(session, 'change').mockResolvedValue({ isMet: true, revision: 9, term: 1, results: [] });
  const views = { follow: () => () => {} } as unknown as QueueViews;
  const entry = { mode: 'exclusive', permits: 1, most: 1, label: undefined } as const;
  const wanted = { name: 'k', queue: keys.queue('lock', 'k'), entry, releaseTimeoutMs: 1_000, views };
  const contender = new Contender(session, wanted);
  contender.stands(5, undefined);
  const granted = contender.untilGranted(NEVER);
  contender.placed(undefined);
  await expect(granted).rejects.toBeInstanceOf(EntryGoneError);
  expect(change.mock.calls.map(([{ success }]) => success)).toEqual([[{ kind: 'delete', key: contender.entryKey }]]);
  expect(new Contender(session, wanted).entryKey).toBe(contender.entryKey);
});

it('a set gives the name of each entry back once, also when one of them is not seen any more at once', async () => {
  const keys = new EtcdKeys('locks');
  const session = new EtcdSession(7n, { keys, timeoutMs: 10_000, provenAt: now(), onDoubt() {} });
  // The answer that entered both queues was lost. By now, another client has removed both entries by force.
  vi.spyOn(session, 'change').mockResolvedValue({ isMet: false, revision: 9, term: 1, results: [] });
  const queueOf = (key: string) => keys.queue('lock', key);
  const own = vi.spyOn(session, 'takeName');
  const entryIn = (queue: string, name: string, created: number) => {
    return { key: queue + name, value: Buffer.from('{}'), created, modified: created, version: 1 };
  };
  vi.spyOn(session, 'read').mockImplementation(async () => {
    const { own: queue } = queueOf('a');
    const name = own.mock.results[0]?.value as string;
    const found = [entryIn(queue, 'another-1', 3), entryIn(queue, name, 5)];
    const read = { kind: 'read', hasMore: false } as const;
    return {
      revision: 9,
      term: 1,
      results: [
        { ...read, found, count: 2 },
        { ...read, found: [], count: 0 },
      ],
    };
  });
  const follow = (_: unknown, __: unknown, follower: ViewFollower) => (follower.placed(undefined), () => {});
  const views = { follow } as unknown as QueueViews;
  const entry = { mode: 'exclusive', permits: 1, most: 1, label: undefined } as const;
  const wanted = ['a', 'b'].map((key) => ({ name: key, queue: queueOf(key), entry, releaseTimeoutMs: 1_000, views }));
  const request = { mode: 'exclusive', line: 'fifo', wait: true, signal: NEVER } as const;
  const givenBack = vi.spyOn(session, 'giveNameBack');
  const requests = ['a', 'b'].map((key) => ({ ...request, key }));
  await expect(acquireSet(session, wanted, requests)).rejects.toBeInstanceOf(EntryGoneError);
  await new Promise(setImmediate);
  const names = own.mock.results.map(({ value }) => value as string);
  expect(givenBack.mock.calls.flat().toSorted()).toEqual([queueOf('a').own + names[0], queueOf('b').own + names[1]]);
});

/** A session whose first change is refused, and a place in a queue. */
function setUpRefused(refusal: RefusedError, isInDoubt: boolean) {
  const keys = new EtcdKeys('locks');
  const session = new EtcdSession(7n, { keys, timeoutMs: 10_000, provenAt: now(), onDoubt() {} });
  const change = vi.spyOn(session, 'change');
  change.mockImplementationOnce(async (_, { doubt } = {}) => {
    if (doubt) doubt.isSo = isInDoubt;
    throw refusal;
  });
  change.mockResolvedValue({ isMet: true, revision: 9, term: 1, results: [] });
  const name = session.takeName();
  session.giveNameBack(name);
  const queue = keys.queue('lock', 'k');
  const entry = { mode: 'exclusive', permits: 1, most: 1, label: undefined } as const;
  const views = {} as QueueViews;
  const wanted = { name: 'k', queue, entry, releaseTimeoutMs: 1_000, views };
  return { session, change, wanted, entryKey: queue.own + name };
}

const DENIED = new RefusedError('PERMISSION_DENIED', 'etcdserver: permission denied');
const FULL = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded');

it.each([true, false])('an acquisition that is refused leaves nothing to remove (it waits: %s)', async (wait) => {
  const { session, change, wanted, entryKey } = setUpRefused(DENIED, false);
  const request = { key: 'k', mode: 'exclusive', line: 'fifo', wait, signal: NEVER } as const;
  await expect(acquireOne(session, wanted, request)).rejects.toBe(DENIED);
  // A removal would be sent at once.
  await new Promise(setImmediate);
  expect(change).toHaveBeenCalledOnce();
  expect(new Contender(session, wanted).entryKey).toBe(entryKey);
});

it.each([
  ['after an answer was lost', DENIED, true],
  ['by a server that may have applied it', FULL, false],
])('an acquisition that is refused %s removes its entry', async (_, refusal, isInDoubt) => {
  const { session, change, wanted, entryKey } = setUpRefused(refusal, isInDoubt);
  const request = { key: 'k', mode: 'exclusive', line: 'fifo', wait: true, signal: NEVER } as const;
  await expect(acquireOne(session, wanted, request)).rejects.toBe(refusal);
  await vi.waitFor(() => expect(change).toHaveBeenCalledTimes(2));
  expect(change.mock.lastCall?.[0].success).toEqual([{ kind: 'delete', key: entryKey }]);
});
