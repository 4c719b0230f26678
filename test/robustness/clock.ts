/**
 * Milliseconds on one monotonic clock that all processes of a machine share (CLOCK_MONOTONIC on Linux). The beliefs of
 * different processes can therefore be compared.
 */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
