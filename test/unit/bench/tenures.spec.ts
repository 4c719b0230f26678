import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TenureLog } from '../../../bench/contenders/node/tenure-log.js';
import { readAcquisitions } from '../../../bench/support/tenure-file.js';
import { handOvers, overlaps } from '../../../bench/support/tenures.js';

describe('the mutual exclusion check of the benches', () => {
  it('accepts holds that follow each other, for each lock', () => {
    const one = [10, 0, 20].map((from) => ({ lock: 1, from, to: from + 10 }));
    const other = [5, 15].map((from) => ({ lock: 'b', from, to: from + 10 }));
    expect(overlaps([...one, ...other])).toBe(0);
    expect(overlaps([])).toBe(0);
  });

  it('counts holds that begin before another one is over, however long ago that began', () => {
    const tenures = [
      { lock: 1, from: 0, to: 100 },
      { lock: 1, from: 10, to: 20 },
      { lock: 1, from: 30, to: 40 },
      { lock: 2, from: 30, to: 40 },
      { lock: 1, from: 100, to: 110 },
    ];
    expect(overlaps(tenures)).toBe(2);
  });

  it('lets readers in together', () => {
    const readers = [0, 1, 2, 9].map((from) => ({ lock: 1, from, to: from + 10, isShared: true }));
    expect(overlaps(readers)).toBe(0);
    expect(overlaps([...readers, { lock: 1, from: 19, to: 20 }])).toBe(0);
  });

  it('counts a writer among readers, also beside a reader that began long before the last', () => {
    const readers = [
      { lock: 1, from: 0, to: 100, isShared: true },
      { lock: 1, from: 10, to: 20, isShared: true },
    ];
    expect(overlaps([...readers, { lock: 1, from: 50, to: 60 }])).toBe(1);
  });

  it('counts a reader that overlaps a writer', () => {
    const writer = { lock: 1, from: 0, to: 10 };
    expect(overlaps([writer, { lock: 1, from: 9, to: 20, isShared: true }])).toBe(1);
  });

  it('finds any overlap that is planted among holds that follow each other', () => {
    const lengths = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 9 })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(lengths, fc.nat(), fc.boolean(), (steps, which, isShared) => {
        let at = 0;
        const tenures = steps.map(([idle, length]) => {
          const from = at + idle;
          at = from + length;
          return { lock: 1, from, to: at };
        });
        expect(overlaps(tenures)).toBe(0);
        const { from, to } = tenures[which % tenures.length]!;
        const planted = { lock: 1, from: (from + to) / 2, to, isShared };
        expect(overlaps([...tenures, planted].sort(() => Math.random() - 0.5))).toBe(1);
      }),
    );
  });
});

describe('the hand-over time', () => {
  it('is the time between the holds of each lock', () => {
    const tenures = [
      { lock: 1, from: 20, to: 30 },
      { lock: 1, from: 0, to: 13 },
      { lock: 2, from: 14, to: 15 },
      { lock: 1, from: 31, to: 40 },
    ];
    expect(handOvers(tenures)).toEqual([7, 1]);
    expect(handOvers([])).toEqual([]);
  });
});

describe('the file of holds', () => {
  it('has the recorded holds in their order, also when it is long', () => {
    const dir = mkdtempSync(join(tmpdir(), 'tenures-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const log = new TenureLog();
    const now = Number(process.hrtime.bigint());
    for (let place = 0; place < 40_000; place++) {
      log.add(place % 7, place % 2 === 1, now + place, now + place + 1, now + place + 2, now + place + 3);
    }
    log.write(join(dir, 'file'));
    const read = readAcquisitions(join(dir, 'file'));
    expect(read).toHaveLength(40_000);
    const last = { lock: 39_999 % 7, isShared: true, asked: now + 39_999, from: now + 40_000, to: now + 40_001 };
    expect(read.at(-1)).toEqual({ ...last, released: now + 40_002 });
    expect(read[0]).toEqual({ lock: 0, isShared: false, asked: now, from: now + 1, to: now + 2, released: now + 3 });
  });
});
