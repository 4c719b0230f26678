import asyncHooks from 'node:async_hooks';

type Frame = ReadonlyMap<object, unknown>;

// Node 20 looks at every storage there is for every promise, and each instance of the library has some: this is the only one.
const frames = new asyncHooks.AsyncLocalStorage<Frame>();

/** `AsyncLocalStorage`, of which any number costs what one does. */
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

/** `node:async_hooks` of a simulated process. */
export const sharedAsyncHooks = { ...asyncHooks, AsyncLocalStorage: SharedStorage };

/** Runs what begins in nobody's context: what a process is told from outside. */
export function outsideOfAll(action: () => void): void {
  frames.exit(action);
}
