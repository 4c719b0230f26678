/** Stops this process's JavaScript, as a long garbage collection or a debugger would. */
export function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
