import { describe, expect, it } from 'vitest';
import type { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import type { RangeListener, Watches } from '../../../lib/etcd/session/watches.js';
import { QueueView } from '../../../lib/etcd/locks/queue-view.js';
import type { Place } from '../../../lib/etcd/locks/queue-view.js';
import type { KeyValue } from '../../../lib/etcd/wire/responses.js';

const QUEUE = { entries: 'q//' };
const VALUE = Buffer.from(JSON.stringify({ mode: 'exclusive', since: 0 }));

const kvOf = (name: string, created: number, modified = created): KeyValue => ({
  key: `q//${name}`,
  value: VALUE,
  created,
  modified,
  version: 1,
});

/** A view of a queue, with the reads and the watch events that a test decides on. */
function setUp() {
  const listeners: RangeListener[] = [];
  const reads: ((found: readonly KeyValue[], revision: number) => void)[] = [];
  const watches = {
    watch: (_range: object, _from: number, listener: RangeListener) => {
      listeners.push(listener);
      return { created: Promise.resolve(), end() {} };
    },
  };
  const read = () =>
    new Promise((resolve) =>
      reads.push((found, revision) =>
        resolve({ revision, results: [{ kind: 'read', found, hasMore: false, count: 0 }] }),
      ),
    );
  const session = { read, isOver: false };
  const view = new QueueView(session as unknown as EtcdSession, watches as unknown as Watches, QUEUE, 60_000);
  const places: (Place | undefined)[] = [];
  const follow = (name: string, created: number) =>
    view.follow({ key: `q//${name}`, created, placed: (place) => void places.push(place) });
  const answer = async (found: readonly KeyValue[], revision: number) => {
    reads.shift()?.(found, revision);
    await new Promise(setImmediate);
  };
  const put = (kv: KeyValue) => listeners[0]?.changed([{ isDeleted: false, kv }]);
  const remove = (name: string, at: number) => listeners[0]?.changed([{ isDeleted: true, kv: kvOf(name, 0, at) }]);
  return { view, places, follow, answer, put, remove, missed: () => listeners[0]?.missed() };
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

  it('tells that the entry is gone, and that another one waits', async () => {
    const { places, follow, answer, put, remove } = setUp();
    follow('me', 7);
    await answer([kvOf('me', 7)], 7);
    put(kvOf('b', 8));
    remove('me', 9);
    expect(places.map((place) => place?.isWanted)).toEqual([false, true, undefined]);
  });

  it('reads the queue again when changes were missed, unless what it has is newer', async () => {
    const { places, follow, answer, missed, put } = setUp();
    follow('me', 7);
    await answer([kvOf('a', 5), kvOf('me', 7)], 7);
    missed();
    await answer([kvOf('me', 7)], 20);
    expect(places.at(-1)?.isTurn).toBe(true);
    put(kvOf('b', 30));
    missed();
    await answer([kvOf('me', 7)], 25);
    expect(places.at(-1)?.isWanted).toBe(true);
  });
});
