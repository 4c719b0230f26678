import { expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { deferred } from '../../../lib/async/deferred.js';
import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { LinkLostError } from '../../../lib/etcd/client/etcd-error.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';
import type { Changed } from '../../../lib/etcd/session/outbox.js';

const MET = { isMet: true, results: [], revision: 9, term: 1 };

/** A session on a link whose answers a test decides on. */
function setUp() {
  const answers: ReturnType<typeof deferred<Changed>>[] = [];
  const txn = () => {
    const answer = deferred<Changed>();
    answers.push(answer);
    return answer.promise;
  };
  const session = new EtcdSession(7n, { keys: new EtcdKeys('b'), timeoutMs: 60_000, provenAt: 0, onDoubt() {} });
  const link = () => session.linkedBy({ txn } as unknown as EtcdLink, { key: session.key, revision: 5, lease: 7n });
  link();
  return { session, answers, link };
}

it('uses the name of an entry again when its removal is answered, and not before', async () => {
  const { session, answers, link } = setUp();
  expect([session.takeName(), session.takeName()]).toEqual(['7-1', '7-2']);
  const removed = session.removeEntry('b/lock/k//7-1');
  await expect.poll(() => answers.length).toBe(1);
  expect(session.takeName()).toBe('7-3');
  // The removal may have been carried out, and is made again.
  answers[0]?.reject(new LinkLostError('cut'));
  await expect.poll(() => session.isLinked).toBe(false);
  link();
  await expect.poll(() => answers.length).toBe(2);
  expect(session.takeName()).toBe('7-4');
  answers[1]?.resolve(MET);
  await removed;
  expect([session.takeName(), session.takeName()]).toEqual(['7-1', '7-5']);
});

it('never uses a new name again', () => {
  const { session } = setUp();
  session.giveNameBack('b/lock/k//7-0');
  expect([session.newName(), session.newName()]).toEqual(['7-1', '7-2']);
});

it('an answer that comes after the end of the session leaves the next one in doubt', async () => {
  const { session, answers } = setUp();
  const doubt = { isSo: false };
  const change = { about: ['k'], compare: [], success: [{ kind: 'delete', key: 'k' } as const], failure: [] };
  const ended = expect(session.change(change, { doubt })).rejects.toThrow(SessionEndedError);
  await expect.poll(() => answers.length).toBe(1);
  session.end('it was not renewed in time');
  answers[0]?.resolve(MET);
  await ended;
  expect(doubt.isSo).toBe(true);
});

it('tells of its end in time when the servers have made its lease shorter', async () => {
  const { session } = setUp();
  const grant = { mode: 'exclusive', fencingToken: 1n, isCurrent: () => true, giveBack: async () => {} } as const;
  const lease = new GrantedLease({ key: 'k', ...grant });
  session.leases.add(lease);
  session.proven(now(), 1);
  // Before that, the lease would have lasted for a minute.
  await new Promise<void>((resolve) => lease.onLost(() => resolve()));
  expect(now()).toBeGreaterThanOrEqual(session.deadline);
});

it.each([0, 1])(
  'a change that no answer has come to when its signal aborts is in doubt, late by %i ms',
  async (lateMs) => {
    const { session } = setUp();
    const [limit, reason, doubt] = [new AbortController(), new Error('the time is over'), { isSo: false }];
    const change = { about: ['k'], compare: [], success: [{ kind: 'delete', key: 'k' } as const], failure: [] };
    const changing = session.change(change, { doubt, lateMs, signal: limit.signal });
    limit.abort(reason);
    await expect(changing).rejects.toBe(reason);
    expect(doubt.isSo).toBe(true);
  },
);
