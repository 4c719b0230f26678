import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../../bench/conduct/figures.js';
import type { Observed } from '../../../bench/conduct/figures.js';
import { failureOf } from '../../../bench/conduct/result.js';

const US = 1_000;
const S = 1e9;

/** One acquisition of a lock. `wait` and `leave` are the microseconds that acquiring and releasing took. */
const acquisition = (from: number, wait: number, leave: number) => ({
  lock: 0,
  asked: from - wait * US,
  from,
  to: from + US,
  released: from + US + leave * US,
});

const NOTHING = { received: 0, sent: 0 };
const marks = (cpuUs: number) =>
  [
    { at: S, cpuUs: 5 },
    { at: 3 * S, cpuUs: 5 + cpuUs },
  ] as const;

function observed(fields: Partial<Observed> = {}): Observed {
  const first = [0.5, 1, 2, 2.9, 3].map((at) => acquisition(at * S, 100, 50));
  const second = [acquisition(2.5 * S, 400, 50)];
  return {
    beginAt: S,
    endAt: 3 * S,
    isOneLine: true,
    isStaying: false,
    workers: [
      { acquisitions: first, marks: marks(300) },
      { acquisitions: second, marks: marks(100) },
    ],
    samples: [
      { at: S, packets: undefined },
      { at: 3 * S, packets: undefined },
    ],
    idle: NOTHING,
    ...fields,
  };
}

describe('the figures of a window', () => {
  it('count the acquisitions that began in it', () => {
    expect(figuresOf(observed()).rate).toBe(2);
  });

  it('include the times to acquire and to release, without the time inside', () => {
    const { p50Us, p99Us, acquireP50Us } = figuresOf(observed());
    expect([p50Us, p99Us, acquireP50Us]).toEqual([150, 450, 100]);
  });

  it('include the time from one hold to the next where all callers share one queue', () => {
    expect(figuresOf(observed()).handOverP50Us).toBeCloseTo(0.5 * 1e6 - 1, 3);
    expect(figuresOf(observed({ isOneLine: false }))).not.toHaveProperty('handOverP50Us');
  });

  it('include the time inside where the callers hold for a while', () => {
    expect(figuresOf(observed({ isStaying: true })).insideP50Us).toBeCloseTo(1, 3);
    expect(figuresOf(observed())).not.toHaveProperty('insideP50Us');
  });

  it('compare the slowest process with the fastest, where there are several', () => {
    const several = observed();
    expect(figuresOf(several).fairness).toBeCloseTo(1 / 3);
    expect(figuresOf({ ...several, workers: several.workers.slice(0, 1) })).not.toHaveProperty('fairness');
  });

  it('divide the processor time by the acquisitions in the same time', () => {
    expect(figuresOf(observed()).cpuUs).toBe(100);
  });

  it('divide the messages likewise, without those of idle sessions', () => {
    const samples = [
      { at: S, packets: { received: 10, sent: 20 } },
      { at: 3 * S, packets: { received: 24, sent: 32 } },
    ] as const;
    const { packetsTo, packetsFrom } = figuresOf(observed({ samples, idle: { received: 1 / S, sent: 2 / S } }));
    expect([packetsTo, packetsFrom]).toEqual([3, 2]);
    expect(figuresOf(observed())).not.toHaveProperty('packetsTo');
  });
});

it('a window without any acquisition is a failure, unless it was short', () => {
  const nobody = observed({ workers: [{ acquisitions: [acquisition(9 * S, 1, 1)], marks: marks(1) }] });
  const measured = { figures: figuresOf(nobody) };
  expect(failureOf(measured, { isShort: false })).toEqual({ failure: expect.stringContaining('nobody got it') });
  expect(failureOf(measured, { isShort: true })).toEqual({});
  expect(failureOf({ figures: figuresOf(observed()) }, { isShort: false })).toEqual({});
  expect(failureOf({ figures: {} }, { isShort: false })).toEqual({});
});
