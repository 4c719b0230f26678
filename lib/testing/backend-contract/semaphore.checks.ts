import assert from 'node:assert/strict';
import type { LockRequest } from '../../contract/lock-request.js';
import { checksOf } from './contract-check.js';

/** Returns a request for `count` permits of a semaphore that has `of` of them. */
const permits = (count: number, of = 2): Partial<LockRequest> => ({
  mode: 'permit',
  permits: { count, of: { permits: of } },
});

/** The checks for backends that have semaphores. */
export const SEMAPHORES = checksOf('semaphores', {
  'have as many holders at a time as there are permits': async (stage) => {
    if (!stage.one.permitCounts) return;
    const first = await stage.hold(stage.one, permits(1));
    assert.equal(first.mode, 'permit');
    await stage.hold(stage.other, permits(1));
    assert.equal(await stage.tryFor(stage.other, permits(1)), null, 'a third holder of two permits');
    await stage.within(first.release(), 'release()');
    assert.ok(await stage.tryFor(stage.other, permits(1)), 'a permit that was given back is not granted');
  },

  'do not let requests for few overtake one for many': async (stage) => {
    if (!stage.one.permitCounts) return;
    const first = await stage.hold(stage.one, permits(1));
    const many = stage.ask(stage.other, permits(2));
    await stage.standing(2);
    assert.equal(await stage.tryFor(stage.one, permits(1)), null, 'a request for few was granted before one for many');
    await stage.within(first.release(), 'release()');
    assert.ok(await stage.within(many, 'the turn of the one for many'));
  },

  'do not exclude a lock on the same key': async (stage) => {
    if (!stage.one.permitCounts) return;
    await stage.hold(stage.one);
    await stage.hold(stage.other, permits(2));
  },

  'let waiting requests in when there are more permits': async (stage) => {
    const { permitCounts } = stage.one;
    if (!permitCounts) return;
    await stage.hold(stage.one, permits(1, 1));
    const waiting = stage.ask(stage.other, permits(1, 1));
    await stage.standing(2);
    await stage.within(permitCounts.set(stage.key, { permits: 1 }, 2), 'another number of permits');
    assert.equal(await permitCounts.read(stage.key, { permits: 1 }), 2);
    assert.ok(await stage.within(waiting, 'the turn of the waiting request'));
  },
});
