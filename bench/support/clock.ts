/** Returns CLOCK_MONOTONIC in nanoseconds: the clock that Node, Java and Python share on one Linux machine. */
export function monotonicNs(): number {
  return Number(process.hrtime.bigint());
}

/** Resolves once the shared clock shows this time. */
export function until(ns: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, (ns - monotonicNs()) / 1e6)));
}
