/** How a process sees time. Its monotonic clock may be slow or fast, and stands still while the machine is suspended. */
export class ProcessClock {
  /** Local milliseconds a true millisecond. */
  readonly rate: number;
  readonly #startedAtMs: number;
  #wallOffsetMs: number;
  #suspendedUs = 0;

  /**
   * @param rate 0.98 to 1.02 in life
   * @param startedAtMs what the monotonic clock says when the world begins
   * @param wallOffsetMs milliseconds since 1970 when the world begins, as this machine has it
   */
  constructor(rate: number, startedAtMs: number, wallOffsetMs: number) {
    this.rate = rate;
    this.#startedAtMs = startedAtMs;
    this.#wallOffsetMs = wallOffsetMs;
  }

  /** `performance.now()`, at a time of the world in microseconds. */
  monotonicMs(worldUs: number): number {
    return this.#startedAtMs + ((worldUs - this.#suspendedUs) * this.rate) / 1_000;
  }

  /** `Date.now()`. */
  wallMs(worldUs: number): number {
    return Math.floor(this.#wallOffsetMs + (worldUs * this.rate) / 1_000);
  }

  /** The first time of the world at which the monotonic clock says at least this, if it is not suspended meanwhile. */
  worldUsAt(monotonicMs: number): number {
    let worldUs = Math.ceil(((monotonicMs - this.#startedAtMs) * 1_000) / this.rate) + this.#suspendedUs;
    // What multiplying has rounded away, or added.
    while (this.monotonicMs(worldUs) < monotonicMs) worldUs++;
    while (this.monotonicMs(worldUs - 1) >= monotonicMs) worldUs--;
    return worldUs;
  }

  /** The machine slept for so long: only its wall clock has gone on. */
  suspended(us: number): void {
    this.#suspendedUs += us;
  }

  /** Somebody sets the wall clock. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }
}
