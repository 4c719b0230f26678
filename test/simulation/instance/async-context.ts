import asyncHooks from 'node:async_hooks';

type Frame = ReadonlyMap<object, unknown>;

// For every promise, Node 20 visits every existing storage, and each instance of the library has some. So this is the
// only real one.
const frames = new asyncHooks.AsyncLocalStorage<Frame>();

/** An `AsyncLocalStorage` of which any number costs as much as one. */
class SharedStorage<T> {
  getStore(): T | undefined {
    return frames.getStore()?.get(this) as T | undefined;
  }

  run<R>(store: T, work: (...args: unknown[]) => R, ...args: unknown[]): R {
    return frames.run(new Map([...(frames.getStore() ?? []), [this, store]]), work, ...args);
  }

  exit<R>(work: (...args: unknown[]) => R, ...args: unknown[]): R {
    return this.run(undefined as T, work, ...args);
  }

  enterWith(store: T): void {
    frames.enterWith(new Map([...(frames.getStore() ?? []), [this, store]]));
  }

  disable(): void {}

  static bind = asyncHooks.AsyncLocalStorage.bind;
  static snapshot = asyncHooks.AsyncLocalStorage.snapshot;
}

/** The `node:async_hooks` of a simulated process. */
export const sharedAsyncHooks = { ...asyncHooks, AsyncLocalStorage: SharedStorage };

/** Runs an action outside of all contexts: an event that reaches a process from outside. */
export function outsideOfAll(action: () => void): void {
  frames.exit(action);
}
