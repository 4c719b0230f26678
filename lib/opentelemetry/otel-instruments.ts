import type {
  Attributes,
  Counter as OtelCounter,
  Histogram as OtelHistogram,
  Meter,
  ObservableCallback,
  ObservableGauge,
} from '@opentelemetry/api';
import { attributeOf, BUCKETS, METRICS } from '../telemetry/metric-table.js';
import type { Metric } from '../telemetry/metric-table.js';
import type { LockTelemetry } from '../telemetry/lock-telemetry.js';
import type { Counter, Histogram, Labels, SeriesFactory } from '../telemetry/series.js';

/** The instruments of all metrics, of one meter. */
export class OtelInstruments implements SeriesFactory {
  readonly #counters = new Map<Metric, OtelCounter>();
  readonly #histograms = new Map<Metric, OtelHistogram>();
  readonly #gauges = new Map<Metric, ObservableGauge>();

  constructor(meter: Meter) {
    for (const metric of Object.values(METRICS)) {
      const { name, kind, unit, help: description } = metric;
      if (kind === 'counter') this.#counters.set(metric, meter.createCounter(name, { description, unit }));
      else if (kind === 'gauge') this.#gauges.set(metric, meter.createObservableGauge(name, { description, unit }));
      else {
        const advice = { explicitBucketBoundaries: [...BUCKETS] };
        this.#histograms.set(metric, meter.createHistogram(name, { description, unit, advice }));
      }
    }
  }

  counter(metric: Metric, labels: Labels): Counter {
    const attributes = attributesOf(labels);
    const counter = this.#counters.get(metric);
    return { add: (by) => counter?.add(by, attributes) };
  }

  histogram(metric: Metric, labels: Labels): Histogram {
    const attributes = attributesOf(labels);
    const histogram = this.#histograms.get(metric);
    return { record: (value) => histogram?.record(value, attributes) };
  }

  /** Has the gauges read from these connections at each collection. Returns the end of that. */
  observe(measured: ReadonlySet<LockTelemetry>): () => void {
    const callbacks = [...this.#gauges].map(([metric, gauge]) => {
      const callback: ObservableCallback = (result) => {
        for (const telemetry of measured) {
          telemetry.proceed();
          telemetry.samplesOf(metric).forEach(({ labels, value }) => result.observe(value, attributesOf(labels)));
        }
      };
      gauge.addCallback(callback);
      return () => gauge.removeCallback(callback);
    });
    return () => callbacks.forEach((remove) => remove());
  }
}

function attributesOf(labels: Labels): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [attributeOf(label), value]));
}
