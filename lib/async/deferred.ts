/** A promise and the two functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve'];
  let reject!: Deferred<T>['reject'];
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Returns a deferred whose rejection is not reported as unhandled when nothing waits for it. */
export function quietDeferred<T = void>(): Deferred<T> {
  const quiet = deferred<T>();
  quiet.promise.catch(() => {});
  return quiet;
}

/** Returns the promise of `ask`. An error that `ask` throws becomes a rejection. */
export function promised<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
