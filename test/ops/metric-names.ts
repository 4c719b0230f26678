/** The metrics of `nestjs-distributed-lock/metrics`, as Prometheus names them, with their labels and kinds. */
export const METRICS: Readonly<Record<string, { readonly kind: string; readonly labels: readonly string[] }>> = {
  distributed_lock_wait_duration_seconds: { kind: 'histogram', labels: ['connection', 'lock', 'mode', 'result'] },
  distributed_lock_hold_duration_seconds: { kind: 'histogram', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_handovers_total: { kind: 'counter', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_blocking_seconds_total: { kind: 'counter', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_leases_lost_total: { kind: 'counter', labels: ['connection', 'lock', 'mode', 'reason'] },
  distributed_lock_held: { kind: 'gauge', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_waiting: { kind: 'gauge', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_oldest_hold_seconds: { kind: 'gauge', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_oldest_wait_seconds: { kind: 'gauge', labels: ['connection', 'lock', 'mode'] },
  distributed_lock_session_state: { kind: 'gauge', labels: ['connection', 'state'] },
  distributed_lock_session_suspended_seconds_total: { kind: 'counter', labels: ['connection'] },
  distributed_lock_session_losses_total: { kind: 'counter', labels: ['connection'] },
  distributed_lock_session_timeout_seconds: { kind: 'gauge', labels: ['connection'] },
  distributed_lock_lease_margin_seconds: { kind: 'gauge', labels: ['connection'] },
  distributed_lock_leader: { kind: 'gauge', labels: ['connection', 'election'] },
  distributed_lock_cron_runs_total: { kind: 'counter', labels: ['connection', 'cron_job', 'state'] },
  distributed_lock_cron_skips_total: { kind: 'counter', labels: ['connection', 'cron_job', 'reason'] },
  distributed_lock_cron_last_success_timestamp_seconds: { kind: 'gauge', labels: ['connection', 'cron_job'] },
  distributed_lock_cron_known_since_timestamp_seconds: { kind: 'gauge', labels: ['connection', 'cron_job'] },
  distributed_lock_queue_items_total: { kind: 'counter', labels: ['connection', 'queue', 'action'] },
  distributed_lock_queue_wait_duration_seconds: { kind: 'histogram', labels: ['connection', 'queue', 'result'] },
  distributed_lock_barrier_wait_duration_seconds: { kind: 'histogram', labels: ['connection', 'barrier', 'result'] },
  distributed_lock_stock_calls_total: { kind: 'counter', labels: ['connection', 'stock', 'result'] },
};

/** Metrics of others that the dashboard shows: of prom-client, of cAdvisor, of ZooKeeper's own servers. */
export const OF_OTHERS: readonly string[] = [
  'nodejs_eventloop_lag_p99_seconds',
  'container_cpu_cfs_throttled_periods_total',
  'container_cpu_cfs_periods_total',
  'outstanding_requests',
  'avg_latency',
];
