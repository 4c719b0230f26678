import { onTestFinished, vi } from 'vitest';

/** Stops this process's JavaScript, as a long garbage collection or a debugger would. */
export function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Stops this process's JavaScript right after the next call of a method has sent its request. Resolves when it goes on:
 * the answer is in the socket, and timers are due.
 */
export function stallAfter<K extends string>(
  owner: Record<K, (...values: never[]) => Promise<unknown>>,
  method: K,
  ms: number,
): Promise<void> {
  const original = owner[method];
  return new Promise((resolve) => {
    const spy = vi.spyOn(owner as Record<string, (...values: never[]) => Promise<unknown>>, method);
    spy.mockImplementationOnce(function (this: unknown, ...values) {
      const answered = original.apply(this, values);
      // The request leaves at the end of this turn. Answers are read after it.
      setImmediate(() => {
        blockEventLoop(ms);
        resolve();
      });
      return answered;
    });
    onTestFinished(() => spy.mockRestore());
  });
}

/** Resolves a few turns of the event loop later: timers that were due have run, and what had arrived is read. */
export async function socketsAreRead(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}
