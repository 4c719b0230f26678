import type { CronEvent, ElectionEvent, ObservedRequest, QueueEvent, StockEvent } from '../contract/channels.js';
import type { JobRunState } from '../contract/job-event.js';
import { begun } from './measured-locks.js';
import { METRICS } from './metric-table.js';
import type { Metric } from './metric-table.js';
import type { MetricNames } from './metric-names.js';
import type { GaugeSource, Labels, Sample, SeriesFactory } from './series.js';

const MS = 1_000;

const ENDS: readonly JobRunState[] = ['done', 'failed', 'lost', 'crashed'];

/** The elections, jobs, queues, barriers and stocks of one connection. */
export class MeasuredWork implements GaugeSource {
  readonly #connection: string;
  readonly #names: MetricNames;
  readonly #make: SeriesFactory;
  readonly #leading = new Map<string, number>();
  readonly #succeeded = new Map<string, number>();
  readonly #known = new Map<string, number>();
  readonly #beganAt = Date.now() / MS;

  constructor(connection: string, names: MetricNames, make: SeriesFactory) {
    this.#connection = connection;
    this.#names = names;
    this.#make = make;
  }

  election({ name, change }: ElectionEvent): void {
    this.#leading.set(this.#names.limited('election', name), change === 'elected' ? 1 : 0);
  }

  cron({ event }: CronEvent): void {
    const job = this.#names.limited('cron_job', event.type === 'skipped' ? event.name : event.run.name);
    if (!this.#known.has(job)) this.#begin(job);
    if (event.type === 'skipped') return this.#count(METRICS.cronSkips, { cron_job: job, reason: event.reason });
    if (event.type !== 'finished' && event.type !== 'crashed') return;
    const { state } = event.run;
    this.#count(METRICS.cronRuns, { cron_job: job, state: event.type === 'crashed' ? 'crashed' : state });
    if (state === 'done') this.#succeeded.set(job, Date.now() / MS);
  }

  queue({ key, action, count }: QueueEvent): void {
    const queue = this.#names.of('queue', { key, label: undefined, kind: 'queue' });
    this.#count(METRICS.queueItems, { queue, action }, count);
  }

  /** An item was taken or a barrier entered, or not, after so long. Other acquisitions do not count here. */
  waited({ key, kind }: ObservedRequest, result: string, ms: number): void {
    if (kind !== 'queue' && kind !== 'barrier') return;
    const name = this.#names.of(kind, { key, label: undefined, kind });
    const labels = { connection: this.#connection, [kind]: name, result };
    this.#make.histogram(kind === 'queue' ? METRICS.queueWait : METRICS.barrierWait, labels).record(ms / MS);
  }

  stock({ key, result }: StockEvent): void {
    const stock = this.#names.of('stock', { key, label: undefined, kind: 'stock' });
    this.#count(METRICS.stockCalls, { stock, result });
  }

  samplesOf(metric: Metric): readonly Sample[] {
    if (metric === METRICS.leader) return this.#samples('election', this.#leading);
    if (metric === METRICS.cronKnownSince) return this.#samples('cron_job', this.#known);
    return metric === METRICS.cronLastSuccess ? this.#samples('cron_job', this.#succeeded) : [];
  }

  /**
   * A counter that appeared with its first crash would show no increase. A job that succeeds nowhere would have no time
   * to compare with: it has the one when measuring began. That is no success, and would hide how old the last one is.
   */
  #begin(job: string): void {
    for (const state of ENDS) {
      begun(this.#make.counter(METRICS.cronRuns, { connection: this.#connection, cron_job: job, state }));
    }
    this.#known.set(job, this.#beganAt);
  }

  #count(metric: Metric, labels: Labels, by = 1): void {
    this.#make.counter(metric, { connection: this.#connection, ...labels }).add(by);
  }

  #samples(label: string, values: ReadonlyMap<string, number>): readonly Sample[] {
    return [...values].map(([name, value]) => ({ labels: { connection: this.#connection, [label]: name }, value }));
  }
}
