import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { QueueKeys } from '../../../lib/etcd/session/etcd-keys.js';
import type { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import type { RangeListener, Watches } from '../../../lib/etcd/session/watches.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { entryOf } from '../../../lib/etcd/locks/entry.js';
import { QueueView } from '../../../lib/etcd/locks/queue-view.js';
import type { Place } from '../../../lib/etcd/locks/queue-view.js';
import type { KeyValue } from '../../../lib/etcd/wire/responses.js';

const QUEUE = { entries: 'q//', own: 'q//' };
const LOOK_EVERY_MS = 60_000;
const VALUE = Buffer.from(JSON.stringify({ mode: 'exclusive', since: 0 }));

const kvOf = (name: string, created: number, modified = created): KeyValue => ({
  key: `q//${name}`,
  value: VALUE,
  created,
  modified,
  version: 1,
});

const readOf = (found: readonly KeyValue[]) => ({ kind: 'read', found, hasMore: false, count: 0 });

/** A view of a queue, with the reads and the watch events that a test decides on. */
function setUp(queue: QueueKeys = QUEUE) {
  const listeners: RangeListener[] = [];
  const created = deferred<number>();
  const reads: ((found: readonly KeyValue[], revision: number, number?: KeyValue) => void)[] = [];
  const watches = {
    watch: (_range: object, listener: RangeListener) => {
      listeners.push(listener);
      return { created: created.promise, end() {} };
    },
  };
  const refusals: (() => void)[] = [];
  const read = () =>
    new Promise((resolve, reject) => {
      reads.push((found, revision, number) =>
        resolve({ revision, results: [readOf(found), ...(number ? [readOf([number])] : [])] }),
      );
      refusals.push(() => reject(new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: too many requests')));
    });
  const session = { read, isOver: false };
  const view = new QueueView(session as unknown as EtcdSession, watches as unknown as Watches, queue, LOOK_EVERY_MS);
  const places: (Place | undefined)[] = [];
  const follow = (name: string, created: number, isWaiting = true) =>
    view.follow({ entryKey: `q//${name}`, created, isWaiting, placed: (place) => void places.push(place) });
  const answer = async (found: readonly KeyValue[], revision: number, number?: KeyValue) => {
    reads.shift()?.(found, revision, number);
    await new Promise(setImmediate);
  };
  const refuse = async () => {
    reads.shift();
    refusals.at(-1)?.();
    await new Promise(setImmediate);
  };
  const put = (kv: KeyValue) => listeners[0]?.changed([{ isDeleted: false, kv }]);
  const remove = (name: string, at: number) => listeners[0]?.changed([{ isDeleted: true, kv: kvOf(name, 0, at) }]);
  const watchedFrom = async (revision: number) => {
    created.resolve(revision);
    await new Promise(setImmediate);
  };
  const missed = (compacted: number) => listeners[0]?.missed(compacted);
  return { view, listeners, reads, places, follow, answer, refuse, put, remove, watchedFrom, missed };
}

describe('a view of a wait queue', () => {
  it('tells a turn when all that were ahead are gone, without a read', async () => {
    const { places, follow, answer, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('b', 6), kvOf('me', 7)], 7);
    remove('b', 8);
    remove('a', 9);
    expect(places.map((place) => place?.isTurn)).toEqual([false, false, true]);
  });

  it('takes no former entry of the same name for the own one, when both changes were missed', async () => {
    const { places, reads, follow, answer, put, watchedFrom } = setUp();
    const former = follow('me', 10);
    await answer([kvOf('me', 10), kvOf('other', 11)], 12);
    await watchedFrom(12);
    expect(places.splice(0).map((place) => place?.isTurn)).toEqual([true]);
    former();
    // Removed at 13, when the other entry had its turn, and created anew at 14.
    follow('me', 14);
    put(kvOf('third', 15));
    expect([places, reads.length]).toEqual([[], 1]);
    await answer([kvOf('other', 11), kvOf('me', 14), kvOf('third', 15)], 15);
    expect(places.map((place) => place?.isTurn)).toEqual([false]);
  });

  it('tells that an entry is gone when another one has its name', async () => {
    const { places, follow, answer } = setUp();
    follow('me', 7);
    await answer([kvOf('me', 9)], 9);
    expect(places).toEqual([undefined]);
  });

  it('does not take the last event for a turn: others may be ahead', async () => {
    const { places, follow, answer, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('b', 6), kvOf('me', 7)], 7);
    remove('b', 8);
    expect(places.at(-1)?.isTurn).toBe(false);
  });

  it('passes over changes that are older than what was read', async () => {
    const { places, follow, answer, put } = setUp();
    follow('me', 7);
    await answer([kvOf('me', 7)], 9);
    put(kvOf('a', 5));
    expect(places.at(-1)?.isTurn).toBe(true);
  });

  it('says nothing about an entry that is newer than the copy', async () => {
    const { places, follow, answer, put } = setUp();
    follow('other', 6);
    await answer([kvOf('other', 6)], 6);
    places.length = 0;
    follow('me', 8);
    expect(places).toEqual([]);
    put(kvOf('me', 8));
    expect(places.map((place) => place?.entry.key)).toEqual(['q//other', 'q//me']);
  });

  it('takes an entry whose name is used again for the last one, also when the server has forgotten its deletion', async () => {
    const { places, follow, answer, put } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    put(kvOf('a', 9));
    expect(places.at(-1)).toMatchObject({ isTurn: true, isWanted: true });
  });

  it('keeps the place of an entry that is written again', async () => {
    const { places, follow, answer, put } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    put(kvOf('a', 5, 9));
    expect(places.at(-1)?.isTurn).toBe(false);
  });

  it('tells that the entry is gone, and that another one waits', async () => {
    const { places, follow, answer, put, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('me', 7)], 7);
    put(kvOf('b', 8));
    remove('me', 9);
    expect(places.map((place) => place?.isWanted)).toEqual([false, true, undefined]);
  });

  it('reads the queue again when changes were missed, and keeps those that are newer than what is read', async () => {
    const { places, follow, answer, missed, put } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    missed(18);
    put(kvOf('c', 19));
    await answer([kvOf('me', 7)], 20);
    expect(places.at(-1)).toMatchObject({ isTurn: true, isWanted: false });
    missed(22);
    put(kvOf('b', 30));
    await answer([kvOf('me', 7)], 25);
    expect(places.at(-1)?.isWanted).toBe(true);
  });

  it('reads the queue again when the watch begins later than the copy: what was between is seen by neither', async () => {
    const { places, reads, follow, answer, watchedFrom } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    await watchedFrom(9);
    await answer([kvOf('me', 7)], 9);
    expect(places.at(-1)?.isTurn).toBe(true);
    expect(reads).toEqual([]);
  });

  it('takes no entry for gone that may have come between the copy and the watch', async () => {
    const { places, follow, answer, put, watchedFrom } = setUp();
    follow('first', 7);
    await answer([kvOf('first', 7)], 7);
    await watchedFrom(9);
    follow('me', 8);
    put(kvOf('last', 10));
    expect(places).not.toContain(undefined);
    await answer([kvOf('first', 7), kvOf('me', 8)], 9);
    expect(places).not.toContain(undefined);
    expect(places.at(-1)).toMatchObject({ entry: { key: 'q//me' }, isTurn: false });
  });

  it('passes over a read that is older than the state which a follower has brought meanwhile', async () => {
    const { view, places, follow, answer, remove } = setUp();
    follow('me', 7);
    const entries = [kvOf('me', 7), kvOf('other', 9)].map((kv) => entryOf(kv));
    view.follow(
      { entryKey: 'q//other', created: 9, isWaiting: true, placed: (place) => void places.push(place) },
      {
        entries,
        number: undefined,
        revision: 9,
      },
    );
    await answer([kvOf('me', 7)], 7);
    remove('me', 10);
    expect(places.at(-1)).toMatchObject({ isTurn: true, entry: { key: 'q//other' } });
  });

  it('reads nothing when the watch begins where the copy ends', async () => {
    const { reads, follow, answer, watchedFrom } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    await watchedFrom(7);
    expect(reads).toEqual([]);
  });

  it('reads once more when another read is needed while one is under way, which may be older', async () => {
    const { places, follow, answer, missed } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    missed(8);
    missed(9);
    await answer([kvOf('a', 5), kvOf('me', 7)], 8);
    await answer([kvOf('me', 7)], 9);
    expect(places.at(-1)?.isTurn).toBe(true);
  });

  it('misses nothing that the server has forgotten, and that it has read', async () => {
    const { places, reads, follow, answer, missed, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 20);
    missed(15);
    // No revision may follow for a long time.
    await answer([kvOf('a', 5), kvOf('me', 7)], 20);
    remove('a', 21);
    expect(places.at(-1)?.isTurn).toBe(true);
    expect(reads).toEqual([]);
  });

  it('goes on with a read at the revision up to which the server has forgotten changes', async () => {
    const { places, reads, follow, answer, missed, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('b', 6), kvOf('me', 7)], 7);
    // The deletion at this revision may be forgotten too.
    missed(8);
    expect(reads.length).toBe(1);
    await answer([kvOf('b', 6), kvOf('me', 7)], 8);
    remove('b', 9);
    expect(places.at(-1)?.isTurn).toBe(true);
    expect(reads).toEqual([]);
  });

  it('is read now and then also after a time in which nothing used it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { view, reads, follow, answer } = setUp();
    onTestFinished(() => view.end());
    const leave = follow('me', 7);
    await answer([kvOf('me', 7)], 7);
    leave();
    vi.advanceTimersByTime(LOOK_EVERY_MS);
    expect(reads).toEqual([]);
    follow('me', 7);
    vi.advanceTimersByTime(LOOK_EVERY_MS);
    expect(reads.length).toBe(1);
  });
});

describe('a view of the wait queue of permits', () => {
  const permitOf = (name: string, created: number): KeyValue => ({
    ...kvOf(name, created),
    value: Buffer.from(JSON.stringify({ mode: 'permit', permits: 1, most: 1, since: 0 })),
  });
  const numberOf = (count: number, modified: number): KeyValue => ({
    ...kvOf('', modified),
    key: 'n',
    value: Buffer.from(String(count)),
  });
  const setUpPermits = async () => {
    const stage = setUp({ ...QUEUE, number: 'n' });
    stage.follow('b', 7);
    const [holders, own] = [['a1', 'a2'].map((name, place) => permitOf(name, 5 + place)), permitOf('b', 7)];
    await stage.answer([...holders, own], 7, numberOf(2, 3));
    return stage;
  };

  it('tells no turn by a release alone: the number may be lower since, and be told later', async () => {
    const { places, reads, listeners, answer, remove } = await setUpPermits();
    remove('a1', 11);
    listeners[1]?.changed([{ isDeleted: false, kv: numberOf(1, 10) }]);
    expect([places.length, reads.length]).toEqual([1, 1]);
    await answer([permitOf('a2', 6), permitOf('b', 7)], 11, numberOf(1, 10));
    expect(places.map((place) => place?.isTurn)).toEqual([false, false]);
    expect(reads).toEqual([]);
  });

  it('tells a turn as of what was read, also when the next change is known already', async () => {
    const { places, reads, answer, remove, put } = await setUpPermits();
    remove('a1', 11);
    put(permitOf('c', 12));
    await answer([permitOf('a2', 6), permitOf('b', 7)], 11, numberOf(2, 3));
    expect(places.map((place) => place?.isTurn)).toEqual([false, true]);
    expect(reads.length).toBe(1);
  });

  it('tells an entry that comes to a copy with an old number nothing before the next read', async () => {
    const { places, listeners, follow, answer, put, remove } = await setUpPermits();
    remove('a1', 8);
    remove('a2', 9);
    await answer([permitOf('b', 7)], 9, numberOf(2, 3));
    places.length = 0;
    // The number was lowered at 10.
    follow('c', 11);
    put(permitOf('c', 11));
    listeners[1]?.changed([{ isDeleted: false, kv: numberOf(1, 10) }]);
    expect(places).toEqual([]);
    await answer([permitOf('b', 7), permitOf('c', 11)], 11, numberOf(1, 10));
    expect(places.map((place) => place?.isTurn)).toEqual([true, false]);
  });

  const setUpHolder = async () => {
    const stage = setUp({ ...QUEUE, number: 'n' });
    stage.follow('a1', 5, false);
    await stage.answer([permitOf('a1', 5), permitOf('a2', 6), permitOf('b', 7)], 7, numberOf(2, 3));
    stage.places.length = 0;
    return stage;
  };

  it('reads nothing at the changes of others while only a holder follows', async () => {
    const { places, reads, listeners, put, remove } = await setUpHolder();
    remove('a2', 8);
    put(permitOf('c', 9));
    listeners[1]?.changed([{ isDeleted: false, kv: numberOf(1, 10) }]);
    expect([places, reads]).toEqual([[], []]);
  });

  it('tells a holder without a read that it is asked to release, and that its entry is gone', async () => {
    const { places, reads, put, remove } = await setUpHolder();
    const value = Buffer.from(JSON.stringify({ mode: 'permit', isRevoked: true }));
    put({ ...kvOf('a1', 5, 8), value });
    expect(places.map((place) => place?.entry.isRevoked)).toEqual([true]);
    // That of the entry which had the name before.
    remove('a1', 4);
    expect(places.length).toBe(1);
    remove('a1', 9);
    expect([places[1], places.length, reads]).toEqual([undefined, 2, []]);
  });

  it('reads a queue that has changed when another entry comes to follow it', async () => {
    const { places, reads, follow, answer, put, remove } = await setUpHolder();
    remove('a2', 8);
    put(permitOf('c', 9));
    follow('c', 9);
    expect([places, reads.length]).toEqual([[], 1]);
    await answer([permitOf('a1', 5), permitOf('b', 7), permitOf('c', 9)], 9, numberOf(3, 3));
    expect(places.at(-1)).toMatchObject({ entry: { key: 'q//c' }, isTurn: true });
  });

  it('reads once more for a holder that comes after a change which the read under way may not show', async () => {
    const { places, reads, follow, answer, missed, put } = await setUpHolder();
    missed(8);
    put({ ...permitOf('a2', 6), modified: 9 });
    follow('a2', 6, false);
    await answer([permitOf('a1', 5), permitOf('a2', 6)], 8, numberOf(2, 3));
    expect(reads.length).toBe(1);
    const value = Buffer.from(JSON.stringify({ mode: 'permit', isRevoked: true }));
    await answer([permitOf('a1', 5), { ...kvOf('a2', 6, 9), value }], 9, numberOf(2, 3));
    expect(places.at(-1)?.entry.isRevoked).toBe(true);
  });

  it('tells a turn after a read that was refused at first', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { view, places, reads, answer, refuse, remove } = await setUpPermits();
    onTestFinished(() => view.end());
    remove('a1', 11);
    await refuse();
    expect([places.length, reads.length]).toEqual([1, 0]);
    vi.advanceTimersByTime(100);
    await answer([permitOf('a2', 6), permitOf('b', 7)], 11, numberOf(2, 3));
    expect(places.map((place) => place?.isTurn)).toEqual([false, true]);
  });

  it('reads once more after an answer that is older than a change', async () => {
    const { places, reads, answer, remove } = await setUpPermits();
    remove('a1', 11);
    remove('a2', 12);
    expect(reads.length).toBe(1);
    await answer([permitOf('a2', 6), permitOf('b', 7)], 11, numberOf(1, 3));
    expect([places.at(-1)?.isTurn, reads.length]).toEqual([false, 1]);
    await answer([permitOf('b', 7)], 12, numberOf(1, 3));
    expect([places.at(-1)?.isTurn, reads.length]).toEqual([true, 0]);
  });
});
