import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { channels } from '../../../lib/contract/channels.js';
import type { LocalEndEvent } from '../../../lib/contract/channels.js';
import { settled, startCallers } from './callers.js';
import type { Callers } from './callers.js';
import type { ScriptedBackend } from './scripted.backend.js';

// The test sets the time.
const clock = vi.hoisted(() => ({ ms: 1_000 }));
vi.mock('../../../lib/async/clock.js', () => ({ now: () => clock.ms }));

const LONGEST_MS = 15;
const MOST_HAND_OVERS = 256;

describe('the hand-overs of one process', () => {
  let callers: Callers<ScriptedBackend>;
  let handOvers: number;

  beforeEach(async () => {
    callers = startCallers();
    handOvers = 0;
  });

  /** Many callers, each of which runs `work` while it holds. Resolves when the first contender is granted. */
  async function startWorkers(count: number, work: () => void = () => {}): Promise<void> {
    for (let place = 0; place < count; place++) {
      void callers
        .acquire({ keepMs: 0 })
        .then((lease) => {
          handOvers++;
          work();
          return lease?.release();
        })
        .catch(() => {});
    }
    await settled();
    callers.backend.last.grant();
  }

  async function untilServed(count: number): Promise<void> {
    await expect.poll(() => handOvers, { interval: 1 }).toBe(count);
    await settled();
  }

  it('are not limited while no other process waits', async () => {
    await startWorkers(2_000, () => void (clock.ms += 1));
    await untilServed(2_000);
    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.forgot()).toBe(true);
  });

  it('are bounded by their count when another process waits', async () => {
    await startWorkers(1_000, () => {
      if (handOvers === 1) callers.backend.last.demand.want();
    });
    await expect.poll(() => callers.backend.entries.length, { interval: 1 }).toBe(2);
    await settled();
    expect(handOvers).toBe(MOST_HAND_OVERS);
    expect(callers.backend.last.isGone).toBe(false);
    expect(callers.backend.last.lease).toBeUndefined();
  });

  it('tell observers that they ended at the limit', async () => {
    const ends: LocalEndEvent[] = [];
    const listener = (event: LocalEndEvent) => void ends.push(event);
    channels.localEnd.subscribe(listener);
    onTestFinished(() => void channels.localEnd.unsubscribe(listener));
    await startWorkers(1_000, () => {
      if (handOvers === 1) callers.backend.last.demand.want();
    });
    await expect.poll(() => ends, { interval: 1 }).toMatchObject([{ handOvers: MOST_HAND_OVERS - 1, why: 'bounds' }]);
  });

  it('pause at the limit until it is known whether another process waits', async () => {
    const answer = deferred<void>();
    await startWorkers(1_000, () => {
      if (handOvers === 1) callers.backend.last.demand.answering = answer.promise;
    });
    await untilServed(MOST_HAND_OVERS);
    expect(callers.backend.entries).toHaveLength(1);
    answer.resolve();
    await untilServed(1_000);
    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.forgot()).toBe(true);
  });

  it('end at the limit when another process turns out to wait', async () => {
    const answer = deferred<void>();
    await startWorkers(1_000, () => {
      if (handOvers === 1) callers.backend.last.demand.answering = answer.promise;
    });
    await untilServed(MOST_HAND_OVERS);
    callers.backend.last.demand.want();
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
    expect(handOvers).toBe(MOST_HAND_OVERS);
  });

  it('release the key when all callers have given up before that is known', async () => {
    const answer = deferred<void>();
    await startWorkers(MOST_HAND_OVERS, () => {
      if (handOvers === 1) callers.backend.last.demand.answering = answer.promise;
    });
    const controller = new AbortController();
    const late = callers.acquire({ keepMs: 0, signal: controller.signal });
    await untilServed(MOST_HAND_OVERS);
    controller.abort(new Error('no more'));
    await expect(late).rejects.toThrow('no more');
    answer.resolve();
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('are limited by time when another process waits', async () => {
    await startWorkers(100, () => {
      clock.ms += 2;
      if (handOvers === 1) callers.backend.last.demand.want();
    });
    await settled();
    expect(handOvers).toBeGreaterThanOrEqual(Math.ceil(LONGEST_MS / 2));
    expect(handOvers).toBeLessThan(20);
    expect(callers.backend.standing).toEqual([callers.backend.last]);
    expect(callers.backend.last.lease).toBeUndefined();
  });

  it('end soon after another process queues, when the limits were passed long before', async () => {
    await startWorkers(3_000, () => {
      if (handOvers === 2_000) callers.backend.last.demand.want();
    });
    await expect.poll(() => callers.backend.entries.length, { interval: 1 }).toBe(2);
    await settled();
    expect(handOvers).toBe(2_000);
  });

  it('are counted again for the next contender', async () => {
    await startWorkers(1_000, () => callers.backend.last.demand.want());
    for (let turn = 2; handOvers < 1_000; turn++) {
      const wanted = turn;
      await expect.poll(() => callers.backend.entries.length, { interval: 1 }).toBe(wanted);
      const before = handOvers;
      callers.backend.last.grant();
      await expect
        .poll(() => handOvers === 1_000 || callers.backend.entries.length > wanted, { interval: 1 })
        .toBe(true);
      expect(handOvers - before).toBeLessThanOrEqual(MOST_HAND_OVERS + 1);
    }
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('queue a new contender before the release, and leave no watch', async () => {
    const standing: number[] = [];
    await startWorkers(20, () => {
      clock.ms += LONGEST_MS;
      callers.backend.last.demand.want();
      standing.push(callers.backend.standing.length);
    });
    await settled();
    expect(callers.backend.entries.length).toBeGreaterThan(1);
    expect(callers.backend.entries[0]?.isGone).toBe(true);
    expect(callers.backend.entries.map(({ demand }) => demand.watches)).toEqual(callers.backend.entries.map(() => 0));
  });
});

describe('readers while a writer of another process waits', () => {
  it('are joined by no reader once the limits are reached', async () => {
    const callers = startCallers();
    void callers.ask('a', { mode: 'read' });
    await settled();
    callers.backend.last.grant();
    await settled();
    clock.ms += LONGEST_MS;
    void callers.ask('b', { mode: 'read' });
    await settled();
    // No waiting process was known, so `b` was admitted. From now on a process waits.
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
    callers.backend.last.demand.want();
    void callers.ask('c', { mode: 'read' });
    await settled();
    expect(callers.told).toHaveLength(2);
    expect(callers.backend.standing).toHaveLength(2);
    await callers.lease('a').release();
    expect(callers.backend.standing).toHaveLength(2);
    await callers.lease('b').release();
    expect(callers.backend.standing).toEqual([callers.backend.last]);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('c: granted');
  });
});
