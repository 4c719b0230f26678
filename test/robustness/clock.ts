/**
 * Milliseconds on one monotonic clock that all processes of a machine share (CLOCK_MONOTONIC on Linux), so that what
 * different processes believed can be put side by side.
 */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
