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

const inTime = (work: (signal: AbortSignal) => Promise<unknown>) => work(NEVER);

function locksOn(session: EtcdSession): EtcdLocks {
  return new EtcdLocks({ keys, connected: session, inTime } as unknown as EtcdSessions, views, 1_000);
}

/** A number of permits on the servers. @param answer called after each change, before it is answered */
function storeNumber(session: EtcdSession, answer: () => void = () => {}) {
  const stored = { kv: kvOf('locks/number/k', '1', 3) };
  const put = (value: string) => void (stored.kv = kvOf(stored.kv.key, value, stored.kv.modified + 1));
  vi.spyOn(session, 'read').mockImplementation(async () => ({ revision: 9, term: 1, results: [readOf([stored.kv])] }));
  vi.spyOn(session, 'change').mockImplementation(async ({ compare, success: [op] }, call) => {
    const isMet = compare.every(({ than }) => than === stored.kv.modified);
    if (isMet && op?.kind === 'put') put(op.value.toString());
    try {
      answer();
    } catch (error) {
      if (call?.doubt) call.doubt.isSo = true;
      throw error;
    }
    return { isMet, revision: stored.kv.modified, term: 1, results: [] };
  });
  return { put, number: () => stored.kv.value.toString() };
}

it('a number of permits whose answer was lost does not replace one that was set since', async () => {
  const session = openSession();
  let isLost = true;
  const { put, number } = storeNumber(session, () => {
    if (!isLost) return;
    isLost = false;
    put('5');
    throw new SessionEndedError('it was not renewed in time');
  });
  await locksOn(session).set('k', { permits: 1 }, 2);
  expect(number()).toBe('5');
});

it('of two numbers of permits that are set at the same time, none is dropped', async () => {
  const session = openSession();
  const { number } = storeNumber(session);
  const locks = locksOn(session);
  await Promise.all([2, 5].map((permits) => locks.set('k', { permits: 1 }, permits)));
  expect(number()).toBe('5');
});

it('entries of other clients that name no key for their number are passed over', async () => {
  const session = openSession();
  const queue = keys.queue('permits', 'k');
  const found = [5, '/n', undefined, 'n'].map((counted, place) =>
    kvOf(`${queue.own}9-${place}`, JSON.stringify({ mode: 'permit', permits: 1, most: 1, counted }), 4 + place),
  );
  const read = vi.spyOn(session, 'read').mockImplementation(async (asked) => {
    const number = asked[1]?.key === 'locks/number/n' ? [kvOf('locks/number/n', '2', 3)] : [];
    return { revision: 9, term: 1, results: [readOf(found), readOf(number)] };
  });
  const states = (await locksOn(session).list(queue, 'k')).map(({ state }) => state);
  expect([states, read.mock.calls.length]).toEqual([['held', 'held', 'waiting', 'waiting'], 2]);
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
