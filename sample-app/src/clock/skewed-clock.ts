/**
 * A wall clock that is wrong by `CLOCK_SKEW_MS`, as the clocks of real machines are. Only the sample needs it: its
 * instances share one machine, and so one clock. It must be imported before anything else.
 */
const skewMs = Number(process.env['CLOCK_SKEW_MS'] ?? 0);
const TrueDate = Date;

class SkewedDate extends TrueDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [SkewedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return TrueDate.now() + skewMs;
  }
}

if (skewMs !== 0) globalThis.Date = SkewedDate as DateConstructor;
