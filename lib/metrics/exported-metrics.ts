import type { Metric as PromMetric } from 'prom-client';
import { LockConfigurationError } from '../contract/errors.js';
import type { LockService } from '../service/lock.service.js';
import { LockTelemetry } from '../telemetry/lock-telemetry.js';
import { METRICS, prometheusNameOf } from '../telemetry/metric-table.js';
import type { Metric } from '../telemetry/metric-table.js';
import { MetricNames } from '../telemetry/metric-names.js';
import { Accumulators, combined } from './accumulators.js';
import type { ExportedValue } from './accumulators.js';
import type { ResolvedLockMetricsOptions } from './lock-metrics.options.js';

/**
 * The metrics of all connections that share a registry and a prefix, of one application or of several. Counters outlive
 * an application: a registry that loses them between two collections would lose what was counted.
 */
export class ExportedMetrics {
  readonly accumulators: Accumulators;
  readonly names: MetricNames;
  readonly #measured = new Set<LockTelemetry>();

  private constructor(options: ResolvedLockMetricsOptions) {
    this.accumulators = new Accumulators(options.buckets);
    this.names = new MetricNames(options);
  }

  /**
   * Returns the metrics in the registry. Registers them if they are not there.
   * @throws LockConfigurationError when a metric of the same name is there, or the same metrics with other buckets
   */
  static in(options: ResolvedLockMetricsOptions): ExportedMetrics {
    const { registry, prefix, buckets } = options;
    const all = Object.values(METRICS).map((metric) => ({ metric, name: prefix + prometheusNameOf(metric) }));
    const there = all.map(({ name }) => ({ name, metric: registry.getSingleMetric(name) as unknown }));
    const known = there.map(({ metric }) => metric).find((metric) => metric instanceof ExportedMetric)?.of;
    const foreign = there.find(({ metric }) => metric !== undefined && !(metric instanceof ExportedMetric));
    if (foreign) {
      throw new LockConfigurationError(
        `LockMetricsModule: the registry has another metric "${foreign.name}": set prefix, or another registry`,
      );
    }
    if (known && String(known.accumulators.buckets) !== String(buckets)) {
      throw new LockConfigurationError(
        'LockMetricsModule: the registry has these metrics with other buckets: use the same ones, or set prefix',
      );
    }
    const metrics = known ?? new ExportedMetrics(options);
    for (const { metric, name } of all) {
      if (registry.getSingleMetric(name) !== undefined) continue;
      registry.registerMetric(new ExportedMetric(metric, name, metrics) as unknown as PromMetric);
    }
    return metrics;
  }

  /** Measures a connection, until it is closed. */
  measure(locks: LockService): LockTelemetry {
    const telemetry = new LockTelemetry(locks, this.names, this.accumulators, () => this.#measured.delete(telemetry));
    this.#measured.add(telemetry);
    return telemetry;
  }

  valuesOf(metric: Metric, name: string): ExportedValue[] {
    const measured = [...this.#measured];
    if (metric.kind !== 'gauge') {
      measured.forEach((one) => one.proceed());
      return this.accumulators.valuesOf(metric, name);
    }
    const samples = measured.flatMap((one) => one.samplesOf(metric));
    return combined(metric, samples).map(({ labels, value }) => ({ labels: { ...labels }, value }));
  }
}

/** A metric as a registry of prom-client holds it. */
class ExportedMetric {
  /** Not read-only: a registry in the format of OpenMetrics takes `_total` away. */
  name: string;
  readonly help: string;
  readonly type: Metric['kind'];
  /** The way to combine the processes of a cluster, which prom-client reads. */
  readonly aggregator: Metric['combined'];
  readonly #metric: Metric;

  constructor(
    metric: Metric,
    name: string,
    readonly of: ExportedMetrics,
  ) {
    this.#metric = metric;
    this.name = name;
    this.help = metric.help;
    this.type = metric.kind;
    this.aggregator = metric.combined;
  }

  async get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.of.valuesOf(this.#metric, name) };
  }

  reset(): void {
    this.of.accumulators.reset(this.#metric);
  }
}
