import { describe, expect, it } from 'vitest';
import { Choices, readChoices, writeChoices } from './choices.js';
import type { Bounds } from './choices.js';
import { explore } from './explore.js';

const everything: Bounds = { deviations: Infinity, faults: 0, deviationsWithFaults: Infinity };

/**
 * Senders with so many messages each. The order of one sender's messages is fixed. By default, the first sender's
 * messages come first.
 */
function toy(senders: readonly number[], state: (left: readonly number[]) => number = () => Math.random()) {
  const orders: string[] = [];
  const states = new Set<string>();
  const run = async (choices: Choices): Promise<void> => {
    const left = [...senders];
    let order = '';
    for (;;) {
      states.add(left.join());
      const enabled = left.flatMap((count, sender) => (count > 0 ? [sender] : []));
      if (enabled.length === 0) break;
      const place = choices.choose(
        enabled.map(() => 'order'),
        () => state(left),
      );
      if (place === undefined) return;
      const sender = enabled[place]!;
      left[sender]!--;
      order += 'abc'[sender];
    }
    orders.push(order);
  };
  return { orders, states, run };
}

describe('exploring', () => {
  it('runs each order of two senders with three messages once', async () => {
    const { orders, run } = toy([3, 3]);
    expect(await explore(everything, run)).toEqual({ schedules: 20, cut: 0, isComplete: true });
    expect(new Set(orders).size).toBe(20);
    expect(orders.every((order) => [...order].sort().join('') === 'aaabbb')).toBe(true);
  });

  it('runs each order of three senders once', async () => {
    const { orders, run } = toy([2, 2, 2]);
    await explore(everything, run);
    expect([orders.length, new Set(orders).size]).toEqual([90, 90]);
  });

  it('runs only orders within the bound of deviations', async () => {
    const { orders, run } = toy([3, 3]);
    await explore({ ...everything, deviations: 1 }, run);
    // `b` deviates at most once.
    expect(orders.sort()).toEqual(['aaabbb', 'aababb', 'abaabb', 'baaabb']);
  });

  it('reaches every state, each by one path only, when it knows states', async () => {
    const { orders, states, run } = toy([3, 3], ([a = 0, b = 0]) => 10 * a + b);
    const { schedules, cut } = await explore(everything, run);
    expect(states.size).toBe(16);
    expect(schedules).toBe(orders.length);
    // Each of the 24 steps between two states belongs to a run that continues, or to one that is cut short behind it.
    expect(schedules + cut).toBeLessThanOrEqual(24 - 15 + 1);
  });

  it('reaches every state within its bound when it knows states', async () => {
    const bounds = { ...everything, deviations: 2 };
    const all = toy([4, 4, 4]);
    await explore(bounds, all.run);
    const known = toy([4, 4, 4], ([a = 0, b = 0, c = 0]) => 100 * a + 10 * b + c);
    await explore(bounds, known.run);
    expect([...known.states].sort()).toEqual([...all.states].sort());
    expect(known.orders.length).toBeLessThan(all.orders.length);
  });

  it('ends when `isEnough` returns true', async () => {
    const { orders, run } = toy([3, 3]);
    const explored = await explore(everything, run, () => orders.length === 5);
    expect(explored).toEqual({ schedules: 5, cut: 0, isComplete: false });
  });
});

describe('choices', () => {
  const kinds = ['order', 'order', 'fault'] as const;

  it('may include one fault, with fewer deviations', async () => {
    const runs: string[] = [];
    const run = async (choices: Choices): Promise<void> => {
      const places = [0, 1].map(() => choices.choose(kinds, () => Math.random()));
      runs.push(places.join(''));
    };
    await explore({ deviations: 2, faults: 1, deviationsWithFaults: 0 }, run);
    expect(runs.sort()).toEqual(['00', '01', '02', '10', '11', '20']);
  });

  it('are written and read', () => {
    const text = '12:1 40:2!';
    expect(writeChoices(readChoices(text))).toBe(text);
    expect(readChoices('')).toEqual([]);
    expect(() => readChoices('12')).toThrow('--choices must read like "12:1 40:2!", got "12"');
  });

  it('are refused when there is no such alternative', () => {
    const choices = new Choices(readChoices('0:3'), everything);
    expect(() => choices.choose(kinds, () => 0)).toThrow('point 0 has 3 alternatives: there is none with the number 3');
  });
});
