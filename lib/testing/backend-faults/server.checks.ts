import assert from 'node:assert/strict';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';
import { runTraffic } from './traffic.js';

/** Whether the backend keeps leases when its server fails, by its own declaration. */
function keepsLeases({ one }: FaultStage): boolean {
  const failOver = one.backend.guarantees?.failOver;
  return failOver !== 'a held key may be granted again' && failOver !== 'ends with the process';
}

async function whilePaused({ server }: FaultStage, until: () => Promise<void>): Promise<void> {
  await server.freeze?.();
  try {
    await until();
  } finally {
    await server.thaw?.();
  }
}

export const PAUSED_SERVERS = faultChecksOf(
  'a server that is paused',
  {
    'for less than a session: leases go on': {
      sessions: 'long',
      play: async (stage) => {
        const lease = await stage.hold(stage.one);
        await whilePaused(stage, () => stage.reaches(lease, 'suspended'));
        await stage.reaches(lease, 'held');
        assert.equal(lease.isHeld(), true);
        await stage.until(() => stage.other.backend.state === 'connected', 'a connection');
        await stage.staysTaken();
      },
    },

    'for longer: leases are lost, and the key is granted with a larger token': {
      sessions: 'short',
      play: async (stage) => {
        const lease = await stage.hold(stage.one);
        const lost = new Promise<void>((resolve) => lease.onLost(() => resolve()));
        await whilePaused(stage, () => stage.within(lost, 'the loss of a lease'));
        assert.equal(lease.isHeld(), false);
        await stage.within(lease.release(), 'release()');
        const next = await stage.hold(stage.other);
        assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next holder is not larger');
      },
    },
  },
  'pause',
);

export const RESTARTED_SERVERS = faultChecksOf(
  'a server that is restarted',
  {
    'grants no key before the lease of a holder that cannot reach it is over': {
      sessions: 'short',
      play: async (stage) => {
        if (!keepsLeases(stage)) return;
        const lease = await stage.hold(stage.one);
        stage.proxy.refuse();
        await stage.server.kill?.();
        await stage.server.restart?.();
        const next = await stage.hold(stage.other);
        assert.equal(lease.isHeld(), false, 'the former holder still believes in its lease');
        assert.ok(next.fencingToken > lease.fencingToken, 'the token of the next holder is not larger');
      },
    },

    'during traffic: no two hold a key': {
      sessions: 'short',
      play: async (stage) => {
        let restarted: Promise<void> | undefined;
        const restart = async () => {
          await stage.server.kill?.();
          await stage.server.restart?.();
        };
        await runTraffic(stage, 2 * stage.sessionMs, (_random, turn) => {
          if (turn === 1) restarted = restart();
          return stage.sessionMs / 3;
        });
        await restarted;
      },
    },

    'for less than a session: holders keep their keys, and hand them over': {
      sessions: 'very long',
      play: async (stage) => {
        if (!keepsLeases(stage)) return;
        const lease = await stage.hold(stage.one);
        const waiting = stage.ask(stage.other);
        await stage.standing(2);
        await stage.server.kill?.();
        await stage.reaches(lease, 'suspended');
        await stage.server.restart?.();
        await stage.reaches(lease, 'held');
        assert.equal(lease.isHeld(), true);
        await stage.until(async () => (await stage.line()).length === 2, 'the holder and the waiting request');
        await stage.within(lease.release(), 'release()');
        assert.ok((await stage.granted(waiting)).fencingToken > lease.fencingToken);
      },
    },
  },
  'restart',
);
