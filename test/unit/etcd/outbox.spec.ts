import { describe, expect, it } from 'vitest';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import { NotBoundError, Outbox } from '../../../lib/etcd/session/outbox.js';
import type { Change } from '../../../lib/etcd/session/outbox.js';
import type { Txn } from '../../../lib/etcd/wire/requests.js';

const PROOF = { key: 'session', revision: 5, lease: 7n };

/** A link that applies everything, unless a test says otherwise. */
function setUp(answer: (txn: Txn) => object = ({ success }) => metBy(success.length)) {
  const sent: Txn[] = [];
  const txn = async (request: Txn) => {
    sent.push(request);
    return answer(request);
  };
  return { sent, outbox: new Outbox({ txn } as unknown as EtcdLink, PROOF) };
}

const metBy = (count: number) => ({
  isMet: true,
  revision: 9,
  term: 1,
  results: Array.from({ length: count }, () => ({ kind: 'txn', isMet: true, results: [] })),
});

function put(key: string, about = key, count = 1): Change {
  const success = Array.from({ length: count }, () => ({ kind: 'put', key, value: 'v' }) as const);
  return { about: [about], compare: [], success, failure: [] };
}

describe('an outbox', () => {
  it('sends the changes of a turn in one request, on the condition that the session is bound', async () => {
    const { sent, outbox } = setUp();
    await Promise.all(['a', 'b', 'c'].map((key) => outbox.send(put(key))));
    expect(sent).toHaveLength(1);
    expect(sent[0]?.success).toHaveLength(3);
    expect(sent[0]?.compare).toEqual([{ key: 'session', property: 'modified', is: 'equal', than: 5 }]);
    expect(sent[0]?.failure).toMatchObject([{ kind: 'put', lease: 7n }]);
  });

  it('never sends two changes about one queue in one request: they would not see each other', async () => {
    const { sent, outbox } = setUp();
    await Promise.all([outbox.send(put('a', 'q')), outbox.send(put('b', 'q')), outbox.send(put('c'))]);
    expect(sent.map(({ success }) => success.length)).toEqual([2, 1]);
  });

  it('never sends a change about a queue with one about an entry of it, in either order', async () => {
    const { sent, outbox } = setUp();
    await Promise.all([outbox.send(put('q//1', 'q//')), outbox.send(put('q//2')), outbox.send(put('c'))]);
    expect(sent.map(({ success }) => success.length)).toEqual([2, 1]);
    await Promise.all([outbox.send(put('q//2')), outbox.send(put('q//1', 'q//'))]);
    expect(sent.slice(2).map(({ success }) => success.length)).toEqual([1, 1]);
  });

  it('stays below the number of operations that servers allow', async () => {
    const { sent, outbox } = setUp();
    await Promise.all([outbox.send(put('a', 'a', 100)), outbox.send(put('b', 'b', 60)), outbox.send(put('c'))]);
    expect(sent.length).toBe(2);
  });

  it('tells apart a session that is not bound any more', async () => {
    const { outbox } = setUp(() => ({ isMet: false, revision: 9, term: 1, results: [] }));
    const sent = ['a', 'b'].map((key) => outbox.send(put(key)));
    await Promise.all(sent.map((one) => expect(one).rejects.toBeInstanceOf(NotBoundError)));
  });

  it('sends a single change without a transaction around it, and knows which condition was not met', async () => {
    let boundAt = 5;
    const { sent, outbox } = setUp(({ failure }) => {
      const results = failure.map(() => ({ kind: 'read', found: [{ key: 'session', modified: boundAt }] }));
      return { isMet: false, revision: 9, term: 1, results };
    });
    const change = { ...put('a'), compare: [{ key: 'a', property: 'created', is: 'equal', than: 0 } as const] };
    await expect(outbox.send(change)).resolves.toMatchObject({ isMet: false, results: [] });
    expect(sent[0]).toMatchObject({ success: [{ kind: 'put', key: 'a' }], failure: [{ key: 'session' }] });
    expect(sent[0]?.compare.map(({ key }) => key)).toEqual(['session', 'a']);
    boundAt = 6;
    await expect(outbox.send(change)).rejects.toBeInstanceOf(NotBoundError);
  });

  it('does not let the refusal of one change be that of others', async () => {
    const refused = new RefusedError('PERMISSION_DENIED', 'permission denied');
    const { outbox } = setUp(({ success }) => {
      if (JSON.stringify(success).includes('"key":"a"')) throw refused;
      return metBy(success.length);
    });
    const doubt = { isSo: false };
    const [one, other] = await Promise.allSettled([outbox.send(put('a')), outbox.send(put('b'), doubt)]);
    expect(one).toMatchObject({ status: 'rejected', reason: refused });
    expect(other).toMatchObject({ status: 'fulfilled' });
    expect(doubt.isSo).toBe(false);
  });

  it('makes no put again that a full server may have applied, and sends removals alone', async () => {
    const full = new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded');
    const { outbox } = setUp(({ success }) => {
      if (success.length > 1) throw full;
      return metBy(success.length);
    });
    const removal: Change = { about: ['b'], compare: [], success: [{ kind: 'delete', key: 'b' }], failure: [] };
    const doubt = { isSo: false };
    const [one, other] = await Promise.allSettled([outbox.send(put('a')), outbox.send(removal, doubt)]);
    expect(one).toMatchObject({ status: 'rejected', reason: full });
    expect(other).toMatchObject({ status: 'fulfilled' });
    // It may have been applied with the others.
    expect(doubt.isSo).toBe(true);
  });
});
