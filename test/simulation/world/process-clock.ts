/** The time of a process. Its monotonic clock may be slow or fast, and stands still while the machine is suspended. */
export class ProcessClock {
  /** Local milliseconds per true millisecond. */
  readonly rate: number;
  readonly #startedAtMs: number;
  #wallOffsetMs: number;
  #suspendedUs = 0;

  /**
   * @param rate 0.98 to 1.02 in practice
   * @param startedAtMs the monotonic clock when the world begins
   * @param wallOffsetMs milliseconds since 1970 when the world begins, on this machine
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

  /** `Date.now()`, at a time of the world in microseconds. */
  wallMs(worldUs: number): number {
    return Math.floor(this.#wallOffsetMs + (worldUs * this.rate) / 1_000);
  }

  /** The first time of the world at which the monotonic clock shows at least this, if it is not suspended meanwhile. */
  worldUsAt(monotonicMs: number): number {
    let worldUs = Math.ceil(((monotonicMs - this.#startedAtMs) * 1_000) / this.rate) + this.#suspendedUs;
    // Corrects the rounding of the multiplication.
    while (this.monotonicMs(worldUs) < monotonicMs) worldUs++;
    while (this.monotonicMs(worldUs - 1) >= monotonicMs) worldUs--;
    return worldUs;
  }

  /** The machine slept for so long: only its wall clock has advanced. */
  suspended(us: number): void {
    this.#suspendedUs += us;
  }

  /** The wall clock is set from outside. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }
}
