import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import {
  after,
  afterSilence,
  LONGEST_TIMER_MS,
  orLateAbort,
  orTimeout,
  pause,
  settledWithin,
} from '../../../lib/async/timer.js';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether the promise has settled by now. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

describe('afterSilence', () => {
  it('calls two turns after the time is over', () => {
    const action = vi.fn<() => void>();
    afterSilence(1_000, action);
    for (let step = 0; step < 2; step++) vi.advanceTimersToNextTimer();
    expect(action).not.toHaveBeenCalled();
    vi.advanceTimersToNextTimer();
    expect(action).toHaveBeenCalledOnce();
  });

  it.each([0, 1, 2])('does not call once disposed after %i of its three steps', (steps) => {
    const action = vi.fn<() => void>();
    const dispose = afterSilence(1_000, action);
    for (let step = 0; step < steps; step++) vi.advanceTimersToNextTimer();
    dispose();
    expect(vi.getTimerCount()).toBe(0);
    expect(action).not.toHaveBeenCalled();
  });
});

describe('after', () => {
  it('calls once, when the time is over and not before', () => {
    const action = vi.fn<() => void>();
    after(1_000, action);
    vi.advanceTimersByTime(999);
    expect(action).not.toHaveBeenCalled();
    vi.advanceTimersByTime(HOUR_MS);
    expect(action).toHaveBeenCalledOnce();
  });

  it('does not call once disposed', () => {
    const action = vi.fn<() => void>();
    const dispose = after(1_000, action);
    dispose();
    dispose();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(HOUR_MS);
    expect(action).not.toHaveBeenCalled();
  });

  it.each([Infinity, Number.MAX_SAFE_INTEGER, LONGEST_TIMER_MS + 1])('does not fire at once for %d ms', (ms) => {
    // Restored before the clock is: otherwise the faked timer would be put back.
    using setTimer = vi.spyOn(globalThis, 'setTimeout');
    const dispose = after(ms, () => {});
    expect(LONGEST_TIMER_MS).toBe(0x7fff_ffff);
    expect(setTimer).toHaveBeenLastCalledWith(expect.any(Function), LONGEST_TIMER_MS);
    dispose();
  });
});

describe('pause', () => {
  it('resolves after the time, and leaves no listener and no timer', async () => {
    const { signal } = new AbortController();
    const paused = pause(50, signal);
    await vi.advanceTimersByTimeAsync(49);
    expect(await hasSettled(paused)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await expect(paused).resolves.toBeUndefined();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects with the reason at once, and leaves no listener and no timer', async () => {
    const controller = new AbortController();
    const paused = pause(HOUR_MS, controller.signal);
    controller.abort('enough');
    await expect(paused).rejects.toBe('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not begin under a signal that has aborted', async () => {
    await expect(pause(HOUR_MS, AbortSignal.abort('before'))).rejects.toBe('before');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('settledWithin', () => {
  it.each([
    ['resolves', () => Promise.resolve('value')],
    ['rejects', () => Promise.reject(new Error('refused'))],
  ])('resolves with undefined when the promise %s, and leaves no timer', async (_how, promiseOf) => {
    await expect(settledWithin(promiseOf(), HOUR_MS)).resolves.toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('resolves after the time when the promise is still pending', async () => {
    const { promise, reject } = deferred();
    const settled = settledWithin(promise, 100);
    await vi.advanceTimersByTimeAsync(99);
    expect(await hasSettled(settled)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await expect(settled).resolves.toBeUndefined();
    reject(new Error('too late to matter'));
  });

  it('waits no longer than Node’s longest timer for a pending promise without a limit', async () => {
    const { promise, resolve } = deferred();
    const settled = settledWithin(promise, Infinity);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(await hasSettled(settled)).toBe(false);
    resolve();
    await expect(settled).resolves.toBeUndefined();
  });
});

describe('orTimeout', () => {
  it('resolves with the promise’s value, and leaves no timer', async () => {
    const error = vi.fn<() => unknown>();
    await expect(orTimeout(Promise.resolve(7), 100, error)).resolves.toBe(7);
    expect(vi.getTimerCount()).toBe(0);
    expect(error).not.toHaveBeenCalled();
  });

  it('rejects with the promise’s reason, untouched, and leaves no timer', async () => {
    const error = new Error('of the promise');
    await expect(orTimeout(Promise.reject(error), 100, () => 'time')).rejects.toBe(error);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects with a newly made error when the time is over', async () => {
    const error = vi.fn<() => unknown>(() => 'made now');
    const timed = orTimeout(deferred().promise, 100, error);
    const rejected = expect(timed).rejects.toBe('made now');
    await vi.advanceTimersByTimeAsync(99);
    expect(error).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await rejected;
  });
});

describe('orLateAbort', () => {
  it('resolves with a value that comes soon after the signal has aborted, and leaves no timer', async () => {
    const { promise, resolve } = deferred<number>();
    const late = orLateAbort(promise, AbortSignal.abort('before'), 100);
    await vi.advanceTimersByTimeAsync(99);
    resolve(7);
    await expect(late).resolves.toBe(7);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects with the reason of the signal when the value does not come in time', async () => {
    const leaving = new AbortController();
    const late = orLateAbort(deferred().promise, leaving.signal, 100);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    leaving.abort('enough');
    const rejected = expect(late).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(99);
    expect(await hasSettled(late)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await rejected;
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
  });

  it.each([[NEVER], [AbortSignal.abort('before')]])('rejects with the promise’s reason at once', async (signal) => {
    const error = new Error('of the promise');
    await expect(orLateAbort(Promise.reject(error), signal, HOUR_MS)).rejects.toBe(error);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a pause under NEVER', () => {
  it('leaves no listener on it', async () => {
    const paused = pause(10, NEVER);
    await vi.advanceTimersByTimeAsync(10);
    await paused;
    expect(getEventListeners(NEVER, 'abort')).toEqual([]);
  });
});
