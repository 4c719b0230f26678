import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { anyAbort, NEVER, onAbort, orAbort, OwnAbortController } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('onAbort', () => {
  it('calls back once with the reason', () => {
    const controller = new AbortController();
    const listener = vi.fn<(reason: unknown) => void>();
    onAbort(controller.signal, listener);
    expect(listener).not.toHaveBeenCalled();
    controller.abort('why');
    controller.signal.dispatchEvent(new Event('abort'));
    expect(listener.mock.calls).toEqual([['why']]);
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it('calls back at once when the signal has aborted', () => {
    const signal = AbortSignal.abort('before');
    const listener = vi.fn<(reason: unknown) => void>();
    const dispose = onAbort(signal, listener);
    expect(listenersOf(signal)).toBe(0);
    dispose();
    expect(listener.mock.calls).toEqual([['before']]);
  });

  it('does not call back once disposed, however often that is done', () => {
    const controller = new AbortController();
    const listener = vi.fn<(reason: unknown) => void>();
    const dispose = onAbort(controller.signal, listener);
    dispose();
    dispose();
    controller.abort();
    expect(listener).not.toHaveBeenCalled();
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it('keeps two subscriptions of one listener apart', () => {
    const controller = new AbortController();
    const listener = vi.fn<(reason: unknown) => void>();
    const disposeFirst = onAbort(controller.signal, listener);
    onAbort(controller.signal, listener);
    disposeFirst();
    disposeFirst();
    controller.abort();
    expect(listener).toHaveBeenCalledOnce();
  });
});

describe('many subscriptions of one signal', () => {
  it('share one listener, which is removed with the last of them', () => {
    const { signal } = new AbortController();
    const disposals = Array.from({ length: 50 }, () => onAbort(signal, () => {}));
    expect(listenersOf(signal)).toBe(1);
    disposals.slice(1).forEach((dispose) => dispose());
    expect(listenersOf(signal)).toBe(1);
    disposals[0]?.();
    expect(listenersOf(signal)).toBe(0);
  });

  it('can begin again after all have been disposed', () => {
    const controller = new AbortController();
    onAbort(controller.signal, () => {})();
    const listener = vi.fn<(reason: unknown) => void>();
    onAbort(controller.signal, listener);
    controller.abort('why');
    expect(listener.mock.calls).toEqual([['why']]);
  });

  it('are called in the order of subscription', () => {
    const controller = new AbortController();
    const called: number[] = [];
    [1, 2, 3].forEach((number) => onAbort(controller.signal, () => called.push(number)));
    controller.abort();
    expect(called).toEqual([1, 2, 3]);
  });

  it('are not called once disposed, even by a listener called before them', () => {
    const controller = new AbortController();
    const listener = vi.fn<(reason: unknown) => void>();
    onAbort(controller.signal, () => dispose());
    const dispose = onAbort(controller.signal, listener);
    controller.abort();
    expect(listener).not.toHaveBeenCalled();
  });

  it('may dispose themselves and subscribe again while they are called', () => {
    const controller = new AbortController();
    const called: string[] = [];
    const dispose = onAbort(controller.signal, () => {
      called.push('first');
      dispose();
      onAbort(controller.signal, () => called.push('late'))();
    });
    onAbort(controller.signal, () => called.push('second'));
    controller.abort();
    // A listener that subscribes to an aborted signal is called at once.
    expect(called).toEqual(['first', 'late', 'second']);
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it('are all called when the first listener aborts another signal that others subscribe to', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const called: string[] = [];
    onAbort(one.signal, () => other.abort('by the first'));
    onAbort(one.signal, () => called.push('one'));
    onAbort(other.signal, (reason) => called.push(`other ${String(reason)}`));
    one.abort();
    expect(called).toEqual(['other by the first', 'one']);
    expect([one, other].map(({ signal }) => listenersOf(signal))).toEqual([0, 0]);
  });

  it('cause no leak warning', async () => {
    const warning = vi.fn<(warning: Error) => void>();
    process.on('warning', warning);
    const disposals = Array.from({ length: 50 }, () => onAbort(NEVER, () => {}));
    await new Promise(setImmediate);
    disposals.forEach((dispose) => dispose());
    process.off('warning', warning);
    expect(warning).not.toHaveBeenCalled();
    expect(listenersOf(NEVER)).toBe(0);
  });
});

describe('a signal of this package’s own', () => {
  it('is a signal like any other', () => {
    const controller = new OwnAbortController();
    const listener = vi.fn<() => void>();
    controller.signal.addEventListener('abort', listener);
    controller.abort('why');
    controller.abort('again');
    expect(listener).toHaveBeenCalledOnce();
    expect([controller.signal.aborted, controller.signal.reason]).toEqual([true, 'why']);
  });

  it('has the standard’s reason when none is given', () => {
    const controller = new OwnAbortController();
    const reasons: unknown[] = [];
    onAbort(controller.signal, (reason) => reasons.push(reason));
    controller.abort();
    expect(controller.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(reasons).toEqual([controller.signal.reason]);
  });

  it('needs no event listener, calls in order, once, and skips disposed subscriptions', () => {
    const controller = new OwnAbortController();
    const called: number[] = [];
    const disposals = [1, 2, 3, 4].map((number) => onAbort(controller.signal, () => called.push(number)));
    disposals[1]?.();
    disposals[1]?.();
    expect(listenersOf(controller.signal)).toBe(0);
    controller.abort('why');
    controller.abort('again');
    expect(called).toEqual([1, 3, 4]);
  });

  it('accepts new subscriptions after all have been disposed', () => {
    const controller = new OwnAbortController();
    onAbort(controller.signal, () => {})();
    const listener = vi.fn<(reason: unknown) => void>();
    onAbort(controller.signal, listener);
    controller.abort('why');
    expect(listener.mock.calls).toEqual([['why']]);
  });

  it('does not call a subscription that an earlier one disposes', () => {
    const controller = new OwnAbortController();
    const listener = vi.fn<(reason: unknown) => void>();
    onAbort(controller.signal, () => dispose());
    const dispose = onAbort(controller.signal, listener);
    controller.abort();
    expect(listener).not.toHaveBeenCalled();
  });

  it('calls a listener at once that subscribes during or after the abort', () => {
    const controller = new OwnAbortController();
    const called: string[] = [];
    onAbort(controller.signal, () => onAbort(controller.signal, (reason) => called.push(`inside ${String(reason)}`)));
    controller.abort('why');
    onAbort(controller.signal, (reason) => called.push(`later ${String(reason)}`));
    expect(called).toEqual(['inside why', 'later why']);
  });

  it('is released by orAbort and anyAbort', async () => {
    const [own, other] = [new OwnAbortController(), new AbortController()];
    await expect(orAbort(Promise.resolve(7), own.signal)).resolves.toBe(7);
    const { signal, dispose } = anyAbort([own.signal, other.signal]);
    dispose();
    own.abort('why');
    expect([signal.aborted, listenersOf(other.signal)]).toEqual([false, 0]);
    const joined = anyAbort([own.signal, other.signal]);
    expect(joined.signal.reason).toBe('why');
    joined.dispose();
    expect(listenersOf(other.signal)).toBe(0);
  });
});

describe('a signal that never aborts', () => {
  it('costs no subscription and no promise', async () => {
    const promise = Promise.resolve(7);
    expect(orAbort(promise, NEVER)).toBe(promise);
    onAbort(NEVER, () => {})();
    expect(listenersOf(NEVER)).toBe(0);
    const { signal } = new AbortController();
    expect(anyAbort([NEVER, signal, undefined]).signal).toBe(signal);
    expect(anyAbort([NEVER]).signal).toBe(NEVER);
  });
});

describe('orAbort', () => {
  it('resolves with the promise’s value, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const wait = orAbort(Promise.resolve(7), signal);
    expect(listenersOf(signal)).toBe(1);
    await expect(wait).resolves.toBe(7);
    expect(listenersOf(signal)).toBe(0);
  });

  it('rejects with the promise’s reason, untouched, and leaves no listener', async () => {
    const { signal } = new AbortController();
    const error = new Error('of the promise');
    await expect(orAbort(Promise.reject(error), signal)).rejects.toBe(error);
    expect(listenersOf(signal)).toBe(0);
  });

  it('rejects with the abort reason while the promise is pending, and leaves no listener', async () => {
    const controller = new AbortController();
    const { promise } = deferred();
    const wait = orAbort(promise, controller.signal);
    const reason = { any: 'value' };
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it('handles the rejection of a promise that settles too late', async () => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    const { promise, reject } = deferred();
    const wait = orAbort(promise, AbortSignal.abort('first'));
    await expect(wait).rejects.toBe('first');
    reject(new Error('second'));
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('prefers the reason of a signal that has aborted to a promise that has resolved', async () => {
    await expect(orAbort(Promise.resolve('value'), AbortSignal.abort('reason'))).rejects.toBe('reason');
  });
});

describe('anyAbort', () => {
  it.each([0, 1])('aborts with the reason of source %i', (which) => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = anyAbort(sources.map((source) => source.signal));
    expect(signal.aborted).toBe(false);
    sources[which]?.abort('this one');
    expect(signal.reason).toBe('this one');
  });

  it('keeps the first reason', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { signal } = anyAbort([first.signal, second.signal]);
    second.abort('second');
    first.abort('first');
    expect(signal.reason).toBe('second');
  });

  it('has aborted at once when a source has, and ignores absent sources', () => {
    const { signal } = anyAbort([undefined, AbortSignal.abort('before'), undefined]);
    expect(signal.reason).toBe('before');
  });

  it('of one source is that source, and leaves it as it was', () => {
    const source = new AbortController();
    const { signal, dispose } = anyAbort([undefined, source.signal]);
    expect([signal, listenersOf(source.signal)]).toEqual([source.signal, 0]);
    dispose();
    source.abort('later');
    expect(signal.reason).toBe('later');
    expect(anyAbort([undefined]).signal.aborted).toBe(false);
  });

  it('unsubscribes from every source when disposed', () => {
    const sources = [new AbortController(), new AbortController()];
    const { signal, dispose } = anyAbort(sources.map((source) => source.signal));
    expect(sources.map((source) => listenersOf(source.signal))).toEqual([1, 1]);
    dispose();
    dispose();
    expect(sources.map((source) => listenersOf(source.signal))).toEqual([0, 0]);
    sources[0]?.abort();
    expect(signal.aborted).toBe(false);
  });

  it('unsubscribes from the other sources once one has aborted', () => {
    const [aborted, other] = [new AbortController(), new AbortController()];
    const { dispose } = anyAbort([aborted.signal, other.signal]);
    aborted.abort();
    dispose();
    expect(listenersOf(other.signal)).toBe(0);
  });
});
