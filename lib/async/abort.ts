import { setMaxListeners } from 'node:events';

/** Undoes a subscription; calling it twice does nothing more. */
export type Dispose = () => void;

/** Calls `listener` once, when `signal` aborts or at once when it has. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): Dispose {
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  const abort = () => listener(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/** The promise, or a rejection with `signal.reason`, whichever is first. Leaves no listener behind. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const dispose = onAbort(signal, reject);
    promise.then(resolve, reject).finally(dispose);
  });
}

/** A signal that aborts when any of `sources` does, and lets go of them when disposed. */
export function anyAbort(sources: readonly (AbortSignal | undefined)[]): { signal: AbortSignal; dispose: Dispose } {
  const controller = new AbortController();
  const disposals: Dispose[] = [];
  const dispose = () => disposals.splice(0).forEach((undo) => undo());
  for (const source of sources) {
    if (source) disposals.push(onAbort(source, (reason) => controller.abort(reason)));
  }
  return { signal: controller.signal, dispose };
}

/** A controller whose signal any number of waits may listen to, without Node's warning of a leak at the eleventh. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = sharedAbort().signal;
