import assert from 'node:assert/strict';
import { checksOf } from './contract-check.js';

const MODES = ['exclusive', 'read', 'write', 'exclusive'] as const;

export const LEASES = checksOf('leases', {
  'is over when it has been given back, and may be so twice': async (stage) => {
    const lease = await stage.hold(stage.one);
    await stage.within(lease.release(), 'release()');
    assert.equal(lease.state, 'released');
    assert.equal(lease.isHeld(), false);
    assert.equal((await stage.line()).length, 0, 'a released lease still stands in the line');
    const next = await stage.hold(stage.other);
    await stage.within(lease.release(), 'a second release()');
    assert.equal(next.isHeld(), true);
    assert.equal(await stage.tryFor(stage.one), null, 'a second release() gave back the lease of another');
  },

  'is given back at the end of its block': async (stage) => {
    {
      await using lease = await stage.hold(stage.one);
      assert.equal(lease.isHeld(), true);
    }
    await stage.hold(stage.other);
  },

  'has tokens that grow with every grant of a key, to any client': async (stage) => {
    let last = -1n;
    for (let turn = 0; turn < 8; turn++) {
      const mode = MODES[turn % MODES.length] ?? 'exclusive';
      const lease = await stage.hold(stage.client(turn), { mode });
      assert.ok(lease.fencingToken > last, `token ${lease.fencingToken} comes after ${last}`);
      last = lease.fencingToken;
      await stage.within(lease.release(), 'release()');
    }
  },

  'has a larger token after a wait': async (stage) => {
    const first = await stage.hold(stage.one);
    const asked = stage.ask(stage.other);
    await stage.standing(2);
    await stage.within(first.release(), 'release()');
    const next = await stage.within(asked, 'the hand-over');
    assert.ok(next && next.fencingToken > first.fencingToken);
  },
});
