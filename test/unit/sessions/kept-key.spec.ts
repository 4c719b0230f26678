import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { MAY_BE_KEPT, tryKept } from '../../../lib/sessions/kept-key.js';

const TRIES = { line: 'fifo', wait: false } as const;
/** With an answer at once, the shortest grace. */
const GRACE_MS = 20;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers a request that does not wait at once, and another one when the test says so, or its signal aborts. */
function scripted(tried: string | typeof MAY_BE_KEPT | null, grantedAfterMs = Infinity) {
  const seen: { waits: boolean; signal: AbortSignal }[] = [];
  const enter = (waits: boolean, signal: AbortSignal) => {
    seen.push({ waits, signal });
    if (!waits) return Promise.resolve(tried);
    return new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      if (grantedAfterMs < Infinity) setTimeout(() => resolve('granted'), grantedAfterMs);
    });
  };
  return { seen, enter };
}

it.each(['granted', null])('a try that is answered with %s is over', async (tried) => {
  const { seen, enter } = scripted(tried);
  expect(await tryKept(TRIES, NEVER, enter)).toBe(tried);
  expect(seen.map(({ waits }) => waits)).toEqual([false]);
});

it('a try for a kept key is granted what comes within the grace', async () => {
  const { seen, enter } = scripted(MAY_BE_KEPT, GRACE_MS - 1);
  const trying = tryKept(TRIES, NEVER, enter);
  await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
  expect(await trying).toBe('granted');
  expect(seen.map(({ waits }) => waits)).toEqual([false, true]);
});

it('a try for a kept key ends with null when the grace is over', async () => {
  const { seen, enter } = scripted(MAY_BE_KEPT);
  const done = vi.fn();
  void tryKept(TRIES, NEVER, enter).then(done);
  await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toHaveBeenCalledExactlyOnceWith(null);
  expect(seen.at(-1)?.signal.aborted).toBe(true);
});

it('a try for a kept key rejects with the reason of its caller, and ends its wait', async () => {
  const [caller, reason] = [new AbortController(), new Error('the caller leaves')];
  const { seen, enter } = scripted(MAY_BE_KEPT);
  const trying = expect(tryKept(TRIES, caller.signal, enter)).rejects.toBe(reason);
  await vi.advanceTimersByTimeAsync(1);
  caller.abort(reason);
  await trying;
  expect(seen.at(-1)).toMatchObject({ waits: true, signal: { aborted: true } });
});

it.each([
  ['that may pass others has no grace', { line: 'none', wait: true } as const, [false], null],
  ['that waits in line asks once', { line: 'fifo', wait: true } as const, [true], 'granted'],
])('a request %s', async (_what, request, waits, result) => {
  const { seen, enter } = scripted(MAY_BE_KEPT, 0);
  const trying = tryKept(request, NEVER, enter);
  await vi.advanceTimersByTimeAsync(0);
  expect(await trying).toBe(result);
  expect(seen.map((one) => one.waits)).toEqual(waits);
});
