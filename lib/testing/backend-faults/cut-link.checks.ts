import assert from 'node:assert/strict';
import { faultChecksOf } from './fault-check.js';
import { runTraffic } from './traffic.js';

const WAITERS = 8;
const TRAFFIC_MS = 2_500;
const LONGEST_CUT_BYTES = 1_500;

export const CUT_LINKS = faultChecksOf('a link that is cut', {
  'for a moment: leases go on': {
    sessions: 'long',
    play: async (stage) => {
      const lease = await stage.hold(stage.one);
      stage.proxy.disconnect();
      await stage.until(() => stage.proxy.accepted > 1, 'another connection');
      await stage.reaches(lease, 'held');
      assert.equal(lease.isHeld(), true);
      await stage.staysTaken();
    },
  },

  'for a while: waits keep their places': {
    sessions: 'long',
    play: async (stage) => {
      const first = await stage.hold(stage.other);
      const second = stage.ask(stage.one);
      await stage.standing(2);
      stage.proxy.refuse();
      stage.proxy.disconnect();
      await stage.until(() => stage.one.backend.state === 'suspended', 'a suspended connection');
      const third = stage.ask(stage.other);
      await stage.standing(3);
      await stage.within(first.release(), 'release()');
      stage.proxy.heal();
      await (await stage.granted(second)).release();
      await stage.granted(third);
    },
  },

  'again and again: a wait queue keeps its order': {
    sessions: 'long',
    play: async (stage) => {
      const first = await stage.hold(stage.other);
      const order: number[] = [];
      const turns: Promise<void>[] = [];
      for (let turn = 0; turn < WAITERS; turn++) {
        const asked = stage.ask(turn % 2 === 0 ? stage.one : stage.other);
        const take = async () => {
          const lease = await stage.granted(asked);
          order.push(turn);
          if (turn % 3 === 0) stage.proxy.disconnect();
          await lease.release();
        };
        turns.push(take());
        await stage.standing(turn + 2);
      }
      stage.proxy.disconnect();
      await stage.within(first.release(), 'release()');
      await Promise.all(turns);
      assert.deepEqual(
        order,
        Array.from({ length: WAITERS }, (_, turn) => turn),
      );
    },
  },

  'in the middle of messages, during traffic': {
    sessions: 'long',
    play: (stage) =>
      runTraffic(stage, TRAFFIC_MS, (random) => {
        const way = random() < 0.5 ? 'toServer' : 'toClient';
        stage.proxy.cutAfter(Math.ceil(random() * LONGEST_CUT_BYTES), way);
        return 50 + 250 * random();
      }),
  },

  'during traffic, for longer than a session at times': {
    sessions: 'short',
    play: (stage) =>
      runTraffic(stage, 3 * stage.sessionMs, (random, turn) => {
        stage.proxy.heal();
        if (turn % 3 === 0) return 100;
        if (turn % 3 === 1) stage.proxy.blackHole(random() < 0.3 ? 'toServer' : undefined);
        else {
          stage.proxy.refuse();
          stage.proxy.disconnect();
        }
        return (turn < 3 ? 1.3 : 0.6 * random()) * stage.sessionMs;
      }),
  },
});
