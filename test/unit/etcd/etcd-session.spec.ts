import { expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { deferred } from '../../../lib/async/deferred.js';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import { SessionEndedError } from '../../../lib/etcd/session/session-ended-error.js';

it('an answer that comes after the end of the session leaves the next one in doubt', async () => {
  const options = { keys: new EtcdKeys('locks'), timeoutMs: 10_000, provenAt: now(), onDoubt() {} };
  const session = new EtcdSession(7n, options);
  const answer = deferred<object>();
  const proof = { key: session.key, revision: 1, lease: 7n };
  session.linkedBy({ txn: () => answer.promise } as unknown as EtcdLink, proof);
  const doubt = { isSo: false };
  const change = { about: ['k'], compare: [], success: [{ kind: 'delete', key: 'k' } as const], failure: [] };
  const ended = expect(session.change(change, { doubt })).rejects.toThrow(SessionEndedError);
  session.end('it was not renewed in time');
  answer.resolve({ isMet: true, results: [], revision: 2, term: 1 });
  await ended;
  expect(doubt.isSo).toBe(true);
});
