import assert from 'node:assert/strict';
import { faultChecksOf } from './fault-check.js';

export const EXPIRED_SESSIONS = faultChecksOf(
  'a session that the server ends',
  {
    'takes its leases with it, and the next one is granted the key again': {
      sessions: 'long',
      play: async (stage) => {
        const lease = await stage.hold(stage.one);
        const lost = new Promise<void>((resolve) => lease.onLost(() => resolve()));
        await stage.expire(stage.one);
        await stage.within(lost, 'the loss of a lease');
        assert.equal(lease.isHeld(), false);
        const next = await stage.hold(stage.one);
        assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next session is not larger');
      },
    },

    'hands its key to a waiting client': {
      sessions: 'long',
      play: async (stage) => {
        const lease = await stage.hold(stage.one);
        const waiting = stage.ask(stage.other);
        await stage.standing(2);
        await stage.expire(stage.one);
        assert.ok((await stage.granted(waiting)).fencingToken > lease.fencingToken);
      },
    },
  },
  'expire',
);
