import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../../lib/contract/lock.js';
import { startLocks } from './locks.js';
import type { ObservedBackend } from './observed.backend.js';

/** A call for the key, and the calls that it makes inside. */
interface Call {
  readonly mode: 'read' | 'write';
  readonly waitMs: number;
  /** The turns for which it works, before it makes the calls inside. */
  readonly turns: number;
  /** Whether the calls inside begin at once, one after another, or at once and without being awaited. */
  readonly makes: 'all' | 'each' | 'unawaited';
  readonly inner: readonly Call[];
  /** The turns after which it fails or its signal aborts, whatever is still inside. */
  readonly failsAfter: number | undefined;
  readonly abortsAfter: number | undefined;
}

const turns = fc.nat({ max: 3 });
const callOf = (depth: number): fc.Arbitrary<Call> =>
  fc.record({
    mode: fc.constantFrom('write', 'write', 'write', 'read'),
    waitMs: fc.constantFrom(Infinity, Infinity, Infinity, Infinity, 0, 1),
    turns,
    makes: fc.constantFrom('all', 'each', 'unawaited'),
    inner: depth > 0 ? fc.array(callOf(depth - 1), { maxLength: 3 }) : fc.constant([]),
    failsAfter: fc.option(turns, { nil: undefined }),
    abortsAfter: fc.option(turns, { nil: undefined, freq: 8 }),
  });
const roots = fc.array(callOf(4), { minLength: 1, maxLength: 2 });

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function pass(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

/** Whether it resolves within more turns than any of these calls takes. */
async function ends(done: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  void done.then(() => (isOver = true));
  for (let left = 5_000; left > 0 && !isOver; left--) await turn();
  return isOver;
}

/** Calls for one key, made as they are planned. */
class Play {
  readonly #read: Lock;
  readonly #write: Lock;
  readonly #backend: ObservedBackend;
  readonly #made: Promise<void>[] = [];
  readonly #inside = { read: 0, write: 0 };
  /** The moments at which calls worked that exclude each other. */
  readonly overlaps: string[] = [];

  constructor() {
    const { locks, backend } = startLocks();
    const { read, write } = locks.readWriteLock('a');
    [this.#read, this.#write, this.#backend] = [read, write, backend];
  }

  get requests(): number {
    return this.#backend.requests.length;
  }

  get busyKeys(): readonly string[] {
    return this.#backend.busyKeys;
  }

  /** Makes a call that lasts until all of the calls that were made inside it have ended. */
  makePatiently(root: Call): Promise<void> {
    return this.#using(root, async () => {
      const made: Promise<void>[] = [];
      await this.#work(root, made).catch(() => {});
      await ended(made);
    });
  }

  make(plan: Call, made = this.#made): Promise<void> {
    const done = this.#using(plan, () => this.#work(plan, made));
    made.push(done);
    done.catch(() => {});
    return done;
  }

  /** Resolves when all calls have ended. */
  end(): Promise<void> {
    return ended(this.#made);
  }

  async #using({ mode, waitMs, abortsAfter }: Call, work: () => Promise<void>): Promise<void> {
    const caller = new AbortController();
    if (abortsAfter !== undefined) void pass(abortsAfter).then(() => caller.abort('mine'));
    await (mode === 'read' ? this.#read : this.#write).using(work, { waitMs, signal: caller.signal });
  }

  async #work({ mode, turns: count, makes, inner, failsAfter }: Call, made: Promise<void>[]): Promise<void> {
    this.#inside[mode]++;
    const { read, write } = this.#inside;
    if (write > 1 || (write > 0 && read > 0)) this.overlaps.push(`${read} readers, ${write} writers`);
    await pass(count);
    this.#inside[mode]--;
    const calls =
      makes === 'each' ? this.#makeEach(inner, made) : Promise.all(inner.map((one) => this.make(one, made)));
    const results: Promise<unknown>[] = makes === 'unawaited' ? [] : [calls];
    calls.catch(() => {});
    if (failsAfter === undefined) return void (await Promise.all(results));
    const failure = pass(failsAfter).then(() => Promise.reject(new TypeError('failed')));
    await Promise.all([...results, failure]);
  }

  async #makeEach(inner: readonly Call[], made: Promise<void>[]): Promise<void> {
    for (const one of inner) await this.make(one, made).catch(() => {});
  }
}

/** Resolves when all calls of the list have ended, and none was added for a turn. */
async function ended(made: readonly Promise<void>[]): Promise<void> {
  for (let count = -1; count < made.length; await turn()) {
    count = made.length;
    await Promise.allSettled(made);
  }
}

describe('calls for one key inside each other', () => {
  it('never work at the same time, and all end, whichever fail, are aborted, or are not awaited', async () => {
    const property = fc.asyncProperty(roots, async (all) => {
      const play = new Play();
      for (const root of all) void play.make(root);
      expect(await ends(play.end())).toBe(true);
      expect([play.overlaps, play.busyKeys]).toEqual([[], []]);
    });
    await fc.assert(property, { numRuns: 400 });
  });

  it('never wait for a lease that a call further out holds', async () => {
    const property = fc.asyncProperty(roots, async (all) => {
      const play = new Play();
      const patient = all.map((root) => ({ ...root, waitMs: Infinity, abortsAfter: undefined }));
      expect(await ends(Promise.all(patient.map((root) => play.makePatiently(root))))).toBe(true);
      expect([play.overlaps, play.requests]).toEqual([[], patient.length]);
    });
    await fc.assert(property, { numRuns: 400 });
  });
});
