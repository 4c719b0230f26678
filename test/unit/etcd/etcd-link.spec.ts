import { expect, it, vi } from 'vitest';
import type { EtcdClient } from '../../../lib/etcd/client/etcd-client.js';
import { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { watchRequest } from '../../../lib/etcd/wire/requests.js';

it('a link ends the stream of former watches when the next session begins on it', () => {
  const streams: { write: ReturnType<typeof vi.fn>; cancel: ReturnType<typeof vi.fn> }[] = [];
  const stream = () => {
    const opened = { write: vi.fn(), cancel: vi.fn() };
    streams.push(opened);
    return opened;
  };
  const link = new EtcdLink({ stream } as unknown as EtcdClient, { user: undefined, onClosed() {} });
  link.watchBy(() => {});
  link.watchBy(() => {});
  expect(streams.map(({ cancel }) => cancel.mock.calls.length)).toEqual([1, 0]);
  link.watch(1, { key: 'k' }, 0);
  expect(streams.map(({ write }) => write.mock.calls)).toEqual([[], [[watchRequest(1, { key: 'k' }, 0)]]]);
});
