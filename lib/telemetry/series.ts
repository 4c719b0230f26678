import type { Metric } from './metric-table.js';

/** The values of a metric's labels, by their names. */
export type Labels = Readonly<Record<string, string>>;

/** A value of a gauge. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** A counter with its labels. */
export interface Counter {
  /** Adds to the counter. 0 only makes it visible. */
  add(by: number): void;
}

/** A histogram with its labels. */
export interface Histogram {
  record(value: number): void;
}

/** Makes counters and histograms, and returns the same one for the same labels or an equal one. */
export interface SeriesFactory {
  counter(metric: Metric, labels: Labels): Counter;
  histogram(metric: Metric, labels: Labels): Histogram;
}

/** One part of what is measured, with the gauges that it has. */
export interface GaugeSource {
  /** Returns the present values of a gauge; none if it has no such gauge. */
  samplesOf(metric: Metric): readonly Sample[];
}
