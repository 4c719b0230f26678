import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { deferred } from '../../../../lib/async/deferred.js';
import { LockTimeoutError } from '../../../../lib/contract/errors.js';
import { queuePlace } from '../../../../lib/zookeeper/coordination/queue-place.js';
import { QueuePut } from '../../../../lib/zookeeper/coordination/queue-put.js';
import { inDoubt } from '../../../../lib/sessions/backend-sessions.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { TransactionReply } from '../../../../lib/zookeeper/session/requests.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const PUT: TransactionReply = { results: [{ error: ErrorCode.ok, path: '/q/queue-0000000001' }], zxid: 1n };

/** A put that is aborted after it was sent, with its pending answer. */
function givenUp(reason: Error, patienceMs: number) {
  const answer = deferred<TransactionReply>();
  const abort = new AbortController();
  const place = queuePlace('/q', true, { acl: [], parents: 'container', releaseTimeoutMs: patienceMs });
  const requests = { multi: () => answer.promise };
  const session = { requests, signal: NEVER, whenConnected: async () => {} } as unknown as Session;
  const request = { key: '/q', payloads: [Buffer.from('a')], wait: true, signal: abort.signal };
  const put = new QueuePut(place, request, new Set());
  const putting = put.on(session, abort.signal);
  setImmediate(() => abort.abort(reason));
  return { put, putting, answer };
}

describe('a put that is aborted after it was sent', () => {
  const timeout = new LockTimeoutError('/q', 10, 'is full');

  it('resolves when the answer arrives and confirms it', async () => {
    const { putting, answer } = givenUp(timeout, 10_000);
    setTimeout(() => answer.resolve(PUT), 20);
    expect(await putting).toBe(true);
  });

  it('is reported as in doubt, not as a full queue, when no answer arrives', async () => {
    const { put, putting } = givenUp(timeout, 10);
    const error: unknown = await putting.catch((reason: unknown) => reason);
    expect([error, put.isInDoubt]).toEqual([timeout, true]);
    expect(inDoubt(error, 'whether it was put', '/q')).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: 'the servers had not answered in time; whether it was put is not known',
    });
  });

  it('rejects with the caller’s own reason when no answer arrives', async () => {
    const reason = new Error('gave up');
    await expect(givenUp(reason, 10).putting).rejects.toBe(reason);
  });

  it('rejects with the timeout when the servers refuse it', async () => {
    const { put, putting, answer } = givenUp(timeout, 10_000);
    setTimeout(() => answer.reject(new KeeperError(ErrorCode.noAuth)), 20);
    await expect(putting).rejects.toBe(timeout);
    expect(put.isInDoubt).toBe(false);
  });
});
