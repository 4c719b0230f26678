import { expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { NEVER } from '../../../lib/async/abort.js';
import { Contender, EntryGoneError } from '../../../lib/etcd/locks/contender.js';
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
