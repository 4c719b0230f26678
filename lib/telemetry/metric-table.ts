/** The kinds of metrics. A gauge is read when metrics are collected. */
export type MetricKind = 'histogram' | 'counter' | 'gauge';

/** One metric. Both exporters make theirs of it. */
export interface Metric {
  /** The name by the conventions of OpenTelemetry. */
  readonly name: string;
  readonly kind: MetricKind;
  /** The unit as a UCUM code. In braces: the noun of a count, which is no part of a name. */
  readonly unit: string;
  readonly help: string;
  /** The names of the labels, in the order in which Prometheus shows them. */
  readonly labels: readonly string[];
  /** The way to combine samples with equal labels, of two applications or of two processes. */
  readonly combined: 'sum' | 'max' | 'min';
}

/** The namespace of all metrics and attributes. */
const NAMESPACE = 'distributed_lock';

/** The upper bounds of the buckets of histograms, in seconds. */
export const BUCKETS: readonly number[] = Object.freeze([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]);

const SECONDS = 's';
const OF_LOCK = ['connection', 'lock', 'mode'];
const OF_CONNECTION = ['connection'];
/** Not `job`: Prometheus has this label for the scrape, and renames one of the application to `exported_job`. */
const OF_CRON_JOB = [...OF_CONNECTION, 'cron_job'];

type Described = readonly [unit: string, help: string, labels: readonly string[], combined?: Metric['combined']];

function metricOf(kind: MetricKind, name: string, [unit, help, labels, combined = 'sum']: Described): Metric {
  return Object.freeze({ name: `${NAMESPACE}.${name}`, kind, unit, help, labels, combined });
}

const histogram = (name: string, ...of: Described) => metricOf('histogram', name, of);
const counter = (name: string, ...of: Described) => metricOf('counter', name, of);
const gauge = (name: string, ...of: Described) => metricOf('gauge', name, of);

/** All metrics. Lock means the name of a lock, which is its label, and never a key. */
export const METRICS = Object.freeze({
  waitDuration: histogram('wait.duration', SECONDS, 'Time from the start of an acquisition to its result', [
    ...OF_LOCK,
    'result',
  ]),
  holdDuration: histogram('hold.duration', SECONDS, 'Time from the grant of a lease to its release', OF_LOCK),
  handovers: counter('handovers', '{handover}', 'Grants by a hand-over inside this process', OF_LOCK),
  blocking: counter('blocking', SECONDS, 'Time that callers of this process have waited for its holders', OF_LOCK),
  leasesLost: counter('leases_lost', '{lease}', 'Leases that ended before they were released', [...OF_LOCK, 'reason']),
  held: gauge('held', '{lease}', 'Leases that are held', OF_LOCK),
  waiting: gauge('waiting', '{caller}', 'Callers that wait for a lease', OF_LOCK),
  oldestHold: gauge('oldest_hold', SECONDS, 'Time for which the oldest lease has been held', OF_LOCK, 'max'),
  oldestWait: gauge('oldest_wait', SECONDS, 'Time for which the oldest caller has waited', OF_LOCK, 'max'),
  sessionState: gauge(
    'session_state',
    '{state}',
    'State of the connection: 1 for the one it has',
    [...OF_CONNECTION, 'state'],
    'max',
  ),
  sessionSuspended: counter('session_suspended', SECONDS, 'Time without a connected server', OF_CONNECTION),
  sessionLosses: counter('session_losses', '{session}', 'Sessions that ended with their leases', OF_CONNECTION),
  sessionTimeout: gauge('session_timeout', SECONDS, 'Session timeout as granted', OF_CONNECTION, 'max'),
  leaseMargin: gauge(
    'lease_margin',
    SECONDS,
    'Least time until leases would have been lost without an answer, since the last collection, while any were held',
    OF_CONNECTION,
    'min',
  ),
  leader: gauge('leader', '{leader}', 'Whether this application leads', [...OF_CONNECTION, 'election'], 'max'),
  cronRuns: counter('cron_runs', '{run}', 'Runs of jobs that have ended here, or were found crashed', [
    ...OF_CRON_JOB,
    'state',
  ]),
  cronSkips: counter('cron_skips', '{tick}', 'Ticks of jobs that did not run here', [...OF_CRON_JOB, 'reason']),
  cronLastSuccess: gauge(
    'cron_last_success_timestamp',
    SECONDS,
    'Time at which a run last succeeded here, since the epoch',
    OF_CRON_JOB,
    'max',
  ),
  cronKnownSince: gauge(
    'cron_known_since_timestamp',
    SECONDS,
    'Time at which this process, which knows the job, began to measure, since the epoch',
    OF_CRON_JOB,
    'min',
  ),
  queueItems: counter('queue_items', '{item}', 'Items of queues that were put, taken, acknowledged or returned', [
    ...OF_CONNECTION,
    'queue',
    'action',
  ]),
  queueWait: histogram('queue_wait.duration', SECONDS, 'Time from a call that takes an item of a queue to its result', [
    ...OF_CONNECTION,
    'queue',
    'result',
  ]),
  barrierWait: histogram(
    'barrier_wait.duration',
    SECONDS,
    'Time from a call that enters a double barrier to its result',
    [...OF_CONNECTION, 'barrier', 'result'],
  ),
  stockCalls: counter('stock_calls', '{call}', 'Calls of stocks by their result', [
    ...OF_CONNECTION,
    'stock',
    'result',
  ]),
});

/** Returns the name for Prometheus: the translation that OpenTelemetry prescribes. */
export function prometheusNameOf({ name, kind, unit }: Metric): string {
  const unitWord = unit === SECONDS ? '_seconds' : '';
  return `${name.replaceAll('.', '_')}${unitWord}${kind === 'counter' ? '_total' : ''}`;
}

/** Returns the attribute of OpenTelemetry for a label. */
export function attributeOf(label: string): string {
  return `${NAMESPACE}.${label === 'lock' ? 'name' : label}`;
}
