import { expect, it, vi } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { now } from '../../../lib/async/clock.js';
import { acquireOne } from '../../../lib/etcd/locks/acquire.js';
import { entryText, newEntry } from '../../../lib/etcd/locks/entry.js';
import type { QueueViews } from '../../../lib/etcd/locks/queue-views.js';
import { EtcdLocks } from '../../../lib/etcd/etcd-locks.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import type { EtcdSessions } from '../../../lib/etcd/session/etcd-sessions.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

const keys = new EtcdKeys('locks');
const views = { follow: () => () => {} } as unknown as QueueViews;

function openSession() {
  return new EtcdSession(7n, { keys, timeoutMs: 10_000, provenAt: now(), onDoubt() {} });
}

const kvOf = (key: string, value: string, modified: number) => {
  return { key, value: Buffer.from(value), created: modified, modified, version: 1 };
};
const readOf = (found: readonly ReturnType<typeof kvOf>[]) => {
  return { kind: 'read', found, hasMore: false, count: found.length } as const;
};

it('a number of permits whose answer was lost does not replace one that was set since', async () => {
  const session = openSession();
  let stored = kvOf('locks/number/k', '1', 3);
  vi.spyOn(session, 'read').mockImplementation(async () => ({ revision: 9, term: 1, results: [readOf([stored])] }));
  let isLost = true;
  vi.spyOn(session, 'change').mockImplementation(async ({ compare, success: [put] }) => {
    const isMet = compare.every(({ than }) => than === stored.modified);
    if (isMet && put?.kind === 'put') stored = kvOf(put.key, put.value.toString(), stored.modified + 1);
    if (!isLost) return { isMet, revision: stored.modified, term: 1, results: [] };
    isLost = false;
    stored = kvOf(stored.key, '5', stored.modified + 1);
    throw new SessionEndedError('it was not renewed in time');
  });
  const inTime = (work: (signal: AbortSignal) => Promise<unknown>) => work(NEVER);
  const sessions = { keys, connected: session, inTime } as unknown as EtcdSessions;
  await new EtcdLocks(sessions, views, 1_000).set('k', { permits: 1 }, 2);
  expect(stored.value.toString()).toBe('5');
});

it('a try for a permit whose answer was lost is refused when the number is lower by then', async () => {
  const session = openSession();
  const queue = keys.queue('permits', 'k');
  const entry = { mode: 'permit', permits: 1, most: 2, label: undefined } as const;
  const [other, own] = ['8-1', session.takeName()].map((name, place) =>
    kvOf(queue.own + name, entryText(newEntry(entry)), 4 + place),
  );
  session.giveNameBack(own!.key);
  const reads = [
    [readOf([other!]), readOf([])],
    [readOf([other!, own!]), readOf([kvOf('locks/number/k', '1', 6)])],
  ];
  vi.spyOn(session, 'read').mockImplementation(async () => ({ revision: 6, term: 1, results: reads.shift() ?? [] }));
  const change = vi.spyOn(session, 'change');
  // Carried out, and made again after its answer was lost.
  change.mockResolvedValueOnce({ isMet: false, revision: 6, term: 1, results: [] });
  change.mockResolvedValue({ isMet: true, revision: 7, term: 1, results: [] });
  const wanted = { name: 'k', queue, entry, releaseTimeoutMs: 1_000, views };
  const limit = new AbortController();
  const request = { key: 'k', mode: 'permit', line: 'fifo', wait: false, signal: limit.signal } as const;
  const tried = acquireOne(session, wanted, request);
  setImmediate(() => limit.abort(new Error('it waits')));
  expect(await tried).toBeNull();
  expect(change.mock.lastCall?.[0].success).toEqual([{ kind: 'delete', key: own!.key }]);
  // Its name was given back once.
  expect([session.takeName(), session.takeName()]).toEqual(['7-1', '7-2']);
});
