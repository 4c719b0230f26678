import { expect, it, vi } from 'vitest';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { Watches } from '../../../lib/etcd/session/watches.js';
import type { WatchResponse } from '../../../lib/etcd/wire/responses.js';

const RANGE = { key: 'q//', end: 'q/0' };
const RESPONSE = {
  isCreated: false,
  isCanceled: false,
  compactRevision: 0,
  reason: '',
  events: [],
  revision: 9,
  term: 1,
};
const EVENT = { isDeleted: true, kv: { key: 'q//a', value: Buffer.alloc(0), created: 0, modified: 31, version: 0 } };

/** Watches on a link whose answers a test decides on. */
function setUp() {
  let receive: (response: WatchResponse) => void = () => {};
  const watchBy = (onResponse: typeof receive) => void (receive = onResponse);
  const link = { watchBy, watch: vi.fn(), unwatch: vi.fn(), close: vi.fn() };
  const watches = new Watches();
  watches.linkedBy(link as unknown as EtcdLink);
  const listener = { changed: vi.fn(), missed: vi.fn() };
  const { end } = watches.watch(RANGE, listener);
  const received = (response: Partial<WatchResponse>) => receive({ ...RESPONSE, id: 1, ...response });
  return { watches, link, listener, end, received };
}

it('a watch whose changes the server has forgotten goes on under an id that the server does not have', () => {
  const { link, listener, end, received } = setUp();
  received({ isCreated: true });
  received({ isCanceled: true, compactRevision: 30 });
  expect(link.watch.mock.calls).toEqual([
    [1, RANGE, 0],
    [2, RANGE, 30],
  ]);
  expect(link.unwatch.mock.calls).toEqual([[1]]);
  expect(listener.missed.mock.calls).toEqual([[30]]);
  // The server answers both requests.
  received({ isCanceled: true });
  received({ id: 2, isCreated: true });
  received({ id: 2, events: [EVENT] });
  expect(listener.changed.mock.calls).toEqual([[[EVENT]]]);
  end();
  expect(link.unwatch.mock.calls).toEqual([[1], [2]]);
  received({ id: 2, isCanceled: true });
  expect(link.close).not.toHaveBeenCalled();
});

it('a watch whose changes the server has forgotten goes on over the next link where it was', () => {
  const { watches, link, received } = setUp();
  received({ isCreated: true });
  received({ isCanceled: true, compactRevision: 30 });
  received({ id: 2, events: [EVENT] });
  link.watch.mockClear();
  watches.linkedBy(link as unknown as EtcdLink);
  expect(link.watch.mock.calls).toEqual([[2, RANGE, 32]]);
});
