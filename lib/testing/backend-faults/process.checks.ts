import assert from 'node:assert/strict';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';

/** Stops the JavaScript of this process, as a long garbage collection, a debugger or a suspended machine would. */
function pauseProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** In shares of a session: so that timers come late, while the server is about to end the session. */
const ABOUT_A_SESSION = [0.9, 0.97, 1];

async function isFreedAfter(stage: FaultStage, pauseMs: number): Promise<void> {
  const lease = await stage.hold(stage.one);
  pauseProcess(pauseMs);
  await stage.within(lease.release(), 'release()');
  const next = await stage.hold(stage.other);
  assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next holder is not larger');
  await stage.within(next.release(), 'release()');
}

export const PAUSED_PROCESSES = faultChecksOf('a process that is paused', {
  'for longer than its session: it knows at once that its lease is over': {
    sessions: 'short',
    play: async (stage) => {
      const lease = await stage.hold(stage.one);
      const waiting = stage.ask(stage.other);
      await stage.standing(2);
      pauseProcess(1.1 * stage.sessionMs);
      assert.equal(lease.isHeld(), false, 'the holder believes in its lease after the pause');
      // Its session may go on. The holder is done with the lease, as at the end of a block.
      await stage.within(lease.release(), 'release()');
      const next = await stage.granted(waiting);
      assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next holder is not larger');
      const again = stage.ask(stage.one);
      await stage.within(next.release(), 'release()');
      assert.ok((await stage.granted(again)).fencingToken > next.fencingToken, 'the token of the third is not larger');
    },
  },

  'for about as long as its session: the key is free after a release': {
    sessions: 'short',
    play: async (stage) => {
      for (const share of ABOUT_A_SESSION) await isFreedAfter(stage, share * stage.sessionMs);
    },
  },
});

export const ENDED_PROCESSES = faultChecksOf('a process that ends without a word', {
  'is passed in the wait queue, and its keys are free after its session': {
    sessions: 'short',
    play: async (stage) => {
      await stage.hold(stage.one);
      void stage.ask(stage.one);
      await stage.standing(2);
      const next = stage.ask(stage.other);
      await stage.standing(3);
      // No bytes arrive any more, as from a machine that has failed.
      stage.proxy.blackHole();
      await stage.granted(next);
    },
  },
});
