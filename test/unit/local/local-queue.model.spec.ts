import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Callers, settled } from './callers.js';
import type { CallOptions } from './callers.js';
import { Referee } from './referee.js';
import type { Caller } from './referee.js';
import { QueueingBackend } from './queueing.backend.js';

type Step =
  | { readonly type: 'call'; readonly caller: Caller }
  | { readonly type: 'turns'; readonly count: number }
  | { readonly type: 'suspend' | 'lose'; readonly which: number };

const caller: fc.Arbitrary<Caller> = fc.record({
  process: fc.nat({ max: 1 }),
  mode: fc.constantFrom('exclusive', 'read', 'write'),
  isTry: fc.boolean(),
  keepMs: fc.constantFrom(0, 0, 60_000),
  holdsFor: fc.nat({ max: 3 }),
  givesUpAfter: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 2 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: caller.map((each) => ({ type: 'call', caller: each }) as const), weight: 6 },
  { arbitrary: fc.nat({ max: 4 }).map((count) => ({ type: 'turns', count }) as const), weight: 3 },
  {
    arbitrary: fc.record({ type: fc.constantFrom('suspend' as const, 'lose' as const), which: fc.nat({ max: 9 }) }),
    weight: 1,
  },
);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function play(steps: readonly Step[]): Promise<void> {
  const backend = new QueueingBackend();
  const processes = [new Callers(backend), new Callers(backend)];
  const referee = new Referee();
  const calls: Promise<void>[] = [];

  async function call(each: Caller, number: number): Promise<void> {
    const abort = new AbortController();
    const reason = new Error(`${number} gave up`);
    const { process, mode, keepMs, isTry, givesUpAfter } = each;
    const options: CallOptions = { mode, keepMs, waitMs: isTry ? 0 : Infinity, signal: abort.signal };
    const settle = isTry ? () => {} : referee.waits(each, number);
    const asked = (processes[process] ?? expect.unreachable()).acquire(options);
    // A caller that has given up is ahead of nobody, even while its contender is still being deleted.
    if (givesUpAfter !== undefined) void givingUp(givesUpAfter).then(() => (settle(), abort.abort(reason)));
    const outcome = await asked.catch((error: unknown) => {
      expect(error, 'only its own reason').toBe(reason);
      return undefined;
    });
    settle();
    if (outcome === null) expect(isTry, 'only a try is told that another is ahead').toBe(true);
    if (!outcome) return;
    referee.granted(each, number, outcome);
    for (let held = 0; held < each.holdsFor; held++) await turn();
    await outcome.release();
  }

  for (const [number, each] of steps.entries()) {
    if (each.type === 'call') calls.push(noticed(call(each.caller, number)));
    else if (each.type === 'turns') await givingUp(each.count);
    else happen(backend, each.type, each.which);
  }
  await Promise.all(calls);
  await settled();
  processes.forEach(({ admission }) => void admission.local.giveUpKept());
  await settled();
  expect(backend.standing, 'nothing stays in line').toEqual([]);
  expect(processes.map((each) => each.forgot())).toEqual([true, true]);
  const watches = backend.entries.map(({ demand }) => demand.watches).filter((count) => count > 0);
  expect(watches, 'no watch stays').toEqual([]);
}

/** Marks a promise as handled that is awaited later. */
function noticed(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}

async function givingUp(turns: number): Promise<void> {
  for (let passed = 0; passed < turns; passed++) await turn();
}

/** Suspends or loses one of the backend's leases. A suspended lease may be resumed or lost later. */
function happen(backend: QueueingBackend, type: 'suspend' | 'lose', which: number): void {
  const held = backend.standing.filter(({ lease }) => lease);
  const entry = held[which % Math.max(1, held.length)];
  if (type === 'lose') entry?.lose();
  else entry?.lease?.suspend();
}

describe('the local queues of two processes on one key', () => {
  it('exclude, keep the order, serve all callers and leave no state, in any case', { timeout: 120_000 }, async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 40 });
    await expect(fc.assert(fc.asyncProperty(steps, play), { numRuns: 1_000 })).resolves.toBeUndefined();
  });
});
