import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import { SharedByKey } from '../../../lib/stock/stocks.js';
import { StockSnapshot } from '../../../lib/stock/stock-snapshot.js';
import { StockNames } from '../../../lib/stock/stock-names.js';
import type { Levels } from '../../../lib/stock/stock-plan.js';
import { levelsAfter } from '../../../lib/stock/stock-plan.js';
import type { PlanHints, StockCommand } from '../../../lib/stock/stock-writer.js';
import { StockWriter } from '../../../lib/stock/stock-writer.js';
import { WatchedRecords } from './shops.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Takes one unit from the segment that the writer prefers, and records the hints that it got. */
class TakeOne implements StockCommand<string> {
  readonly told: PlanHints[] = [];

  plan(levels: Levels, hints: PlanHints) {
    this.told.push(hints);
    const parts = [{ segment: hints.first % levels.length, units: 1 }];
    return { levels: levelsAfter(levels, parts, -1), change: { name: 'own', value: '' }, outcome: 'taken' };
  }
}

describe('a stock writer', () => {
  it('tries another segment first when another process writes to the preferred one', async () => {
    const records = new WatchedRecords();
    const names = new StockNames('sku');
    await records.write([{ name: names.head, value: '{"segments":4}' }]);
    for (const segment of [0, 1, 2, 3]) await records.write([{ name: names.segment(segment), value: '5' }]);
    const drawn = [0.25, 0.75, 0.5, 0.1];
    const till = new StockWriter(records, new StockSnapshot(records, names), () => drawn.shift() ?? 0);
    let conflicts = 0;
    records.beforeWrite = async (changes) => {
      const taken = changes.find(({ name }) => name.startsWith('stock/sku/000'));
      if (taken?.ifVersion !== undefined && conflicts++ < 2) await records.write([{ name: taken.name, value: '5' }]);
    };
    const entry = new TakeOne();
    expect(await till.serve(entry, NEVER)).toBe('taken');
    expect(entry.told.map(({ attempt }) => attempt)).toEqual([0, 1, 2]);
    expect(new Set(entry.told.map(({ first }) => first)).size).toBeGreaterThan(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(till.isIdle).toBe(true);
  });

  it('plans larger writes again after some were applied', async () => {
    const records = new WatchedRecords();
    const names = new StockNames('sku');
    await records.write([{ name: names.head, value: '{"segments":2}' }]);
    for (const segment of [0, 1]) await records.write([{ name: names.segment(segment), value: '5' }]);
    const writer = new StockWriter(records, new StockSnapshot(records, names));
    let conflicts = 0;
    records.beforeWrite = async (changes) => {
      const isMove = changes.some(({ ifVersion }) => typeof ifVersion === 'number');
      if (isMove && conflicts++ < 3) await records.write([{ name: names.segment(0), value: '5' }]);
    };
    const attempts: number[] = [];
    const move: StockCommand<string> = {
      plan: (levels, { attempt }) => {
        attempts.push(attempt);
        const moved = levelsAfter(levels, [{ segment: 0, units: 1 }], -1);
        const change = { name: 'own', value: '' };
        return attempts.length < 8 ? { moved } : { levels: moved, change, outcome: 'taken' };
      },
    };
    expect(await writer.serve(move, NEVER)).toBe('taken');
    expect(attempts).toEqual([0, 1, 2, 3, 2, 1, 0, 0]);
  });

  it('pauses shortly again after a write was applied', async () => {
    const records = new WatchedRecords();
    const names = new StockNames('sku');
    await records.write([{ name: names.head, value: '{"segments":1}' }]);
    await records.write([{ name: names.segment(0), value: '5' }]);
    const writer = new StockWriter(records, new StockSnapshot(records, names), () => 1);
    const isRefused = [true, true, true, false, true, false];
    records.beforeWrite = async (changes) => {
      const isMove = changes.some(({ ifVersion }) => typeof ifVersion === 'number');
      if (isMove && isRefused.shift()) await records.write([{ name: names.segment(0), value: '5' }]);
    };
    const move: StockCommand<string> = {
      plan: (levels) => {
        const moved = levelsAfter(levels, [{ segment: 0, units: 1 }], -1);
        return isRefused.length > 1
          ? { moved }
          : { levels: moved, change: { name: 'own', value: '' }, outcome: 'taken' };
      },
    };
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    expect(await writer.serve(move, NEVER)).toBe('taken');
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2, 4, 1]);
  });

  it('does not look for the outcome of a caller that has given up while its entry was refused', async () => {
    const records = new WatchedRecords();
    const names = new StockNames('sku');
    await records.write([{ name: names.head, value: '{"segments":1}' }]);
    await records.write([{ name: names.segment(0), value: '5' }]);
    const till = new StockWriter(records, new StockSnapshot(records, names));
    const giveUp = new AbortController();
    const reason = new Error('the caller gave up');
    records.beforeWrite = async (changes) => {
      if (giveUp.signal.aborted || !changes.some(({ name }) => name === 'own')) return;
      giveUp.abort(reason);
      await records.write([{ name: 'own', value: 'refunded' }]);
    };
    let asked = 0;
    const entry: StockCommand<string> = {
      recordName: 'own',
      plan: (levels) => ({
        levels: levelsAfter(levels, [{ segment: 0, units: 1 }], -1),
        change: { name: 'own', value: 'sold', ifVersion: 'absent' },
        outcome: 'taken',
      }),
      contested: async () => {
        asked++;
        return 'refunded';
      },
    };
    await expect(till.serve(entry, giveUp.signal)).rejects.toBe(reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(0);
    expect(till.isIdle).toBe(true);
  });
});

/** Commands of callers that have given up: half of them before they asked. */
async function giveUp(till: StockWriter, callers: number): Promise<WeakRef<object>[]> {
  const reason = new Error('the caller gave up');
  const served = Array.from({ length: callers }, (_, caller) => {
    const command = new TakeOne();
    const abort = new AbortController();
    if (caller % 2 === 0) abort.abort(reason);
    const outcome = till.serve(command, abort.signal);
    abort.abort(reason);
    return { command: new WeakRef<object>(command), outcome };
  });
  const outcomes = await Promise.allSettled(served.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason })));
  return served.map(({ command }) => command);
}

describe('a caller that has given up behind a slow write', () => {
  it('leaves nothing behind, before and after the end of the write', async () => {
    const records = new WatchedRecords();
    const names = new StockNames('sku');
    await records.write([{ name: names.head, value: '{"segments":1}' }]);
    await records.write([{ name: names.segment(0), value: '5' }]);
    const till = new StockWriter(records, new StockSnapshot(records, names));
    const [isSlow, end] = [deferred(), deferred()];
    records.beforeWrite = () => {
      isSlow.resolve();
      return end.promise;
    };
    const first = till.serve(new TakeOne(), NEVER);
    await isSlow.promise;
    const given = await giveUp(till, 100);
    const kept = async () => {
      // A WeakRef is not cleared in the turn in which it was created or read.
      await new Promise(setImmediate);
      collectGarbage();
      return given.filter((ref) => ref.deref() !== undefined).length;
    };
    const during = await kept();
    end.resolve();
    expect(await first).toBe('taken');
    expect({ during, after: await kept() }).toEqual({ during: 0, after: 0 });
    expect(till.isIdle).toBe(true);
  });
});

describe('a value shared by key', () => {
  it('is the same until too many other keys were used, or while it is busy', () => {
    const shared = new SharedByKey<{ isIdle: boolean; name: string }>();
    const of = (key: string, isIdle = true) => shared.of(key, () => ({ isIdle, name: key }));
    const [busy, idle] = [of('busy', false), of('idle')];
    expect([of('busy'), of('idle')]).toEqual([busy, idle]);
    for (let count = 0; count < 1_000; count++) of(`other ${count}`);
    expect(of('busy')).toBe(busy);
    expect(of('idle')).not.toBe(idle);
  });
});
