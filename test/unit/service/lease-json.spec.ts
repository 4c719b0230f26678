import { describe, expect, it } from 'vitest';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import type { Lease } from '../../../lib/index.js';
import { LockTesting } from '../../../lib/testing/index.js';

const { locks } = new LockTesting();
const elections = new LeaderElectionService(locks);

const PLAIN = ['key', 'mode', 'fencingToken', 'acquiredAt', 'state'];

/** Each kind of lease, and the fields that its JSON has beyond the common ones. */
const KINDS: [string, string[], () => Promise<Lease>][] = [
  ['of a mutex', [], () => locks.acquire('a')],
  ['of a reader', [], () => locks.readWriteLock('b').read.acquire()],
  ['of a permit', [], () => locks.semaphore('c', { permits: 2 }).acquire()],
  ['of several keys', ['leases'], () => locks.multi(['d', 'e']).acquire()],
  ['of several keys at once', ['leases'], () => locks.multi(['f', 'g'], { atomic: true }).acquire()],
  ['of a segment', ['segment', 'segments'], () => locks.segmented('h', { segments: 4 }).acquire()],
  ['of a leader', [], () => elections.campaign('i')],
  ['of a writer, inside', [], () => locks.readWriteLock('j').write.using(async (lease) => lease)],
  ['of a nested call', [], () => locks.using('k', () => locks.using('k', async (lease) => lease))],
  [
    'of a reader that was the writer',
    [],
    () => locks.readWriteLock('l').write.using(() => locks.readWriteLock('l').read.acquire()),
  ],
];

describe.each(KINDS)('the JSON of a lease %s', (_kind, more, take) => {
  it('has its key, mode, token as text, instant and state', async () => {
    await using lease = await take();
    const { key, mode, fencingToken, acquiredAt, state } = lease;
    const json: unknown = JSON.parse(JSON.stringify({ lease }));
    const common = { key, mode, fencingToken: String(fencingToken), acquiredAt: acquiredAt.toISOString(), state };
    expect(json).toMatchObject({ lease: common });
    expect(Object.keys(lease.toJSON()).toSorted()).toEqual([...PLAIN, ...more].toSorted());
  });
});

it('the JSON of a set has the token of each key', async () => {
  await using lease = await locks.multi(['m', 'n']).acquire();
  expect(lease.toJSON().leases.map(({ key, fencingToken }) => [key, BigInt(fencingToken)])).toEqual(
    lease.leases.map(({ key, fencingToken }) => [key, fencingToken]),
  );
});

it('the JSON of a released lease has its final state', async () => {
  const lease = await locks.acquire('o');
  await lease.release();
  expect(lease.toJSON().state).toBe('released');
});
