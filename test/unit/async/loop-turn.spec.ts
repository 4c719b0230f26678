import { describe, expect, it } from 'vitest';
import { LoopBudget, nextTurn } from '../../../lib/async/timer.js';

const MOST_STEPS = 256;

describe('a turn of the event loop', () => {
  it('is long after 256 steps, and not before', () => {
    const turn = new LoopBudget();
    for (let step = 1; step < MOST_STEPS; step++) turn.step();
    expect(turn.isLong).toBe(false);
    turn.step();
    expect(turn.isLong).toBe(true);
  });

  it('counts steps however many promises are between them', async () => {
    const turn = new LoopBudget();
    for (let step = 0; step < MOST_STEPS; step++) {
      turn.step();
      await Promise.resolve();
    }
    expect(turn.isLong).toBe(true);
  });

  it('is followed by a turn that is not long, every time', async () => {
    const turn = new LoopBudget();
    for (let time = 0; time < 3; time++) {
      for (let step = 0; step < 2 * MOST_STEPS; step++) turn.step();
      expect(turn.isLong).toBe(true);
      await nextTurn();
      expect(turn.isLong).toBe(false);
    }
  });

  it('runs the next one after pending promises and ticks', async () => {
    const order: string[] = [];
    const next = nextTurn().then(() => order.push('next turn'));
    process.nextTick(() => order.push('tick'));
    void Promise.resolve().then(() => order.push('promise'));
    await next;
    expect(order).toEqual(['promise', 'tick', 'next turn']);
  });
});
