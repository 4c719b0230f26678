import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Direction } from '../faults/fault-link.js';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';

/** A reply that takes this share of a session is late, and no reason to give the link up. */
const LATE_SHARE = 1 / 13;

const LULL_LOOKS = 6;
const LOOK_EVERY_MS = 3;

/** A waiting client is granted the key of a holder that cannot reach the server, and the holder knows before. */
async function handsOver(stage: FaultStage, breakLink: () => void | Promise<void>): Promise<void> {
  const lease = await stage.hold(stage.one);
  const waiting = stage.ask(stage.other);
  await stage.standing(2);
  await breakLink();
  const next = await stage.granted(waiting);
  assert.equal(lease.isHeld(), false, 'the former holder still believes in its lease');
  assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next holder is not larger');
  stage.proxy.disconnect();
  stage.proxy.heal();
  const again = stage.ask(stage.one);
  await stage.within(next.release(), 'release()');
  assert.ok((await stage.granted(again)).fencingToken > next.fencingToken, 'the token of the third is not larger');
}

/** Resolves between two renewals, or when that takes too long: the last request that the server got is answered. */
async function lull({ proxy, sessionMs }: FaultStage): Promise<void> {
  const end = performance.now() + sessionMs / 2;
  for (let looks = 0; looks < LULL_LOOKS && performance.now() < end; looks++) {
    await pause(LOOK_EVERY_MS);
    if (!proxy.isQuiet) looks = 0;
  }
}

const isLost = (way?: Direction) => ({
  sessions: 'short' as const,
  play: (stage: FaultStage) => handsOver(stage, () => stage.proxy.blackHole(way)),
});

export const HALF_OPEN_LINKS = faultChecksOf('a link that is half open', {
  'for a moment: it is noticed, and leases go on after it': {
    sessions: 'long',
    play: async (stage) => {
      const lease = await stage.hold(stage.one);
      stage.proxy.blackHole();
      await stage.reaches(lease, 'suspended');
      assert.equal(lease.isHeld(), true);
      assert.equal(stage.one.backend.state, 'suspended');
      stage.proxy.disconnect();
      stage.proxy.heal();
      await stage.reaches(lease, 'held');
      assert.equal(lease.isHeld(), true);
      await stage.staysTaken();
    },
  },

  'tells the holder by its own clock that the lease is lost': {
    sessions: 'short',
    play: async (stage) => {
      // The history must not ask for it: asking is what loses a lease whose time is over.
      const lease = await stage.hold(stage.one);
      const lost = new Promise<void>((resolve) => lease.onLost(() => resolve()));
      stage.witness.forget(lease);
      stage.proxy.blackHole();
      await stage.within(lost, 'the loss of a lease');
      assert.equal(lease.isHeld(), false);
    },
  },

  'both ways: the lease ends before the next one is granted': isLost(),
  'to the server: the lease ends before the next one is granted': isLost('toServer'),
  'to the client: the lease ends before the next one is granted': isLost('toClient'),

  'after late replies: the lease ends before the next one is granted': {
    sessions: 'middle',
    play: (stage) =>
      handsOver(stage, async () => {
        stage.proxy.delay(LATE_SHARE * stage.sessionMs, 'toClient');
        // Long enough for a renewal whose reply is late.
        await pause(0.7 * stage.sessionMs);
        await lull(stage);
        stage.proxy.blackHole('toServer');
      }),
  },

  'and works again: the key of a lease that was lost and released is free': {
    sessions: 'short',
    play: async (stage) => {
      const lease = await stage.hold(stage.one);
      const lost = new Promise<void>((resolve) => lease.onLost(() => resolve()));
      stage.proxy.blackHole();
      await stage.within(lost, 'the loss of a lease');
      stage.proxy.disconnect();
      stage.proxy.heal();
      await stage.within(lease.release(), 'release()');
      assert.ok((await stage.hold(stage.other)).fencingToken > lease.fencingToken);
    },
  },

  'lets the holder go on that asks to become a reader: it does not wait for the answer': {
    sessions: 'long',
    play: async (stage) => {
      const lease = await stage.hold(stage.one, { mode: 'write' });
      stage.proxy.blackHole();
      await stage.within(lease.downgrade(), 'downgrade()');
      assert.notEqual(lease.state, 'lost', 'downgrade() ends with the session only');
      stage.proxy.disconnect();
      stage.proxy.heal();
      await stage.until(() => lease.state === 'held' && lease.mode === 'read', 'a lease that is a reader’s');
    },
  },

  'ends a request that may not wait with an error': {
    sessions: 'short',
    play: async (stage) => {
      stage.proxy.blackHole();
      const asked = stage.within(stage.ask(stage.one, { wait: false }), 'an error');
      await assert.rejects(asked, { code: 'LOCK_UNAVAILABLE' });
      await stage.hold(stage.other);
    },
  },
});
