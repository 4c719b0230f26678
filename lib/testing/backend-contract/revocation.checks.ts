import assert from 'node:assert/strict';
import { LockError } from '../../contract/errors.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

const SHORT_MS = 50;

function revoke(stage: ContractStage, graceMs: number, signal?: AbortSignal): Promise<void> {
  return unwatched(stage.one.revoke?.(stage.key, { graceMs, signal }) ?? Promise.resolve());
}

/** The checks for backends that can revoke. */
export const REVOCATION = checksOf('revocation', {
  'is done at once where there is no holder': async (stage) => {
    await stage.within(revoke(stage, Infinity), 'revoke() of a free key');
  },

  'asks the holder to give way, and is done when it has': async (stage) => {
    if (!stage.one.revoke) return;
    const lease = await stage.hold(stage.other);
    const asked = new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
    let isDone = false;
    const revoked = unwatched(revoke(stage, Infinity).then(() => (isDone = true)));
    await stage.within(asked, 'the signal of the holder');
    await stage.lull();
    assert.equal(lease.state, 'revoking');
    assert.equal(lease.isHeld(), true, 'a holder that is asked to give way holds the key until it does');
    const { reason } = lease.signal;
    assert.ok(reason instanceof LockError && reason.code === 'LOCK_REVOKED', `the signal says ${String(reason)}`);
    assert.equal(isDone, false, 'revoke() resolves while the key is held');
    await stage.within(lease.release(), 'release()');
    await stage.within(revoked, 'revoke() of a key that was given back');
  },

  'asks all holders of permits whose number is recorded under another key': async (stage) => {
    const { permitCounts } = stage.one;
    if (!stage.one.revoke || !permitCounts) return;
    const of = { permits: 1, sharedCount: `${stage.key}-number` };
    await stage.within(permitCounts.set(stage.key, of, 2), 'a number of permits');
    const request = { mode: 'permit', permits: { count: 1, of } } as const;
    const [first, second] = [await stage.hold(stage.one, request), await stage.hold(stage.other, request)];
    const asked = [first, second].map(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    );
    let isDone = false;
    const revoked = unwatched(revoke(stage, Infinity).then(() => (isDone = true)));
    await stage.within(Promise.all(asked), 'the signals of the holders');
    await stage.lull();
    // The signal of a lease that is lost aborts as well.
    assert.deepEqual([first.state, second.state], ['revoking', 'revoking']);
    await stage.within(first.release(), 'release()');
    await stage.lull();
    assert.equal(second.isHeld(), true, 'a holder that is asked to give way holds its permit until it does');
    assert.equal(isDone, false, 'revoke() resolves while a permit is held');
    await stage.within(second.release(), 'release() of the other one');
    await stage.within(revoked, 'revoke() of permits that were given back');
  },

  'takes the key from a holder that does not give it back in time': async (stage) => {
    if (!stage.one.revoke) return;
    const lease = await stage.hold(stage.other);
    const waiting = stage.ask(stage.one);
    await stage.standing(2);
    await stage.within(revoke(stage, SHORT_MS), 'revoke() by force');
    assert.ok(await stage.within(waiting, 'the turn of the waiting request'));
    await stage.within(untilLost(lease), 'the end of a lease that was taken away');
  },

  'takes nothing by force when its signal aborts': async (stage) => {
    if (!stage.one.revoke) return;
    const lease = await stage.hold(stage.other);
    const [leaving, reason] = [new AbortController(), new Error('gave up')];
    const revoked = revoke(stage, Infinity, leaving.signal);
    await stage.lull();
    leaving.abort(reason);
    await assert.rejects(stage.within(revoked, 'the end of an aborted revoke()'), (error) => error === reason);
    assert.equal(lease.isHeld(), true);
    assert.equal(await stage.tryFor(stage.one), null);
  },
});

// The lease's signal cannot be awaited: it has already aborted when the holder was asked to release.
async function untilLost(lease: { isHeld(): boolean }): Promise<void> {
  while (lease.isHeld()) await new Promise(setImmediate);
}
