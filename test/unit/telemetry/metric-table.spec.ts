import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attributeOf, BUCKETS, METRICS, prometheusNameOf } from '../../../lib/telemetry/metric-table.js';
import type { Metric } from '../../../lib/telemetry/metric-table.js';

const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

/** The rows of the page's table: name for Prometheus, name for OpenTelemetry, type, labels. */
function rowsOf(text: string): string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| `distributed_lock_'));
  return rows.map((row) => row.replaceAll(/[|`,]/g, ' ').trim().replaceAll(/ +/g, ' '));
}

const ofCode = Object.values(METRICS).map((metric) =>
  [prometheusNameOf(metric), metric.name, metric.kind, ...metric.labels].join(' '),
);

/**
 * The labels that a scrape sets for its target: by Prometheus itself, and by its operator on Kubernetes. Prometheus
 * renames a label of the application with such a name, or overwrites the target's by it. `le` belongs to buckets.
 */
const OF_TARGETS = [
  'job',
  'instance',
  'namespace',
  'pod',
  'container',
  'service',
  'endpoint',
  'node',
  'le',
  'quantile',
];

/** The labels that do not reach Prometheus as they are. */
function collisionsOf(metrics: readonly Pick<Metric, 'name' | 'labels'>[]): string[] {
  return metrics.flatMap(({ name, labels }) =>
    labels
      .filter((label) => OF_TARGETS.includes(label) || label.startsWith('__') || label.startsWith('exported_'))
      .map((label) => `${name}: ${label}`),
  );
}

describe('the table of metrics', () => {
  it('is that of the page: names, types and labels', () => {
    expect(rowsOf(page)).toEqual(ofCode);
  });

  it('is not that of a page with another label, name or row', () => {
    expect(rowsOf(page.replace('`result`', '`outcome`'))).not.toEqual(ofCode);
    expect(rowsOf(page.replace('distributed_lock_held`', 'distributed_lock_holding`'))).not.toEqual(ofCode);
    expect(rowsOf(page.replace(/^\| `distributed_lock_leader.*\n/m, ''))).not.toEqual(ofCode);
  });

  it('has the buckets of the page', () => {
    expect(page).toContain(`\`${BUCKETS.join(' ')}\``);
  });

  it('has names by the conventions of both', () => {
    const names = Object.values(METRICS).map(prometheusNameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const metric of Object.values(METRICS)) {
      expect(metric.name).toMatch(/^distributed_lock(\.[a-z_]+)+$/);
      expect(metric.name).not.toMatch(/total|seconds/);
      expect(prometheusNameOf(metric)).toMatch(/^distributed_lock_[a-z_]+$/);
      expect(prometheusNameOf(metric).endsWith('_total')).toBe(metric.kind === 'counter');
      expect(prometheusNameOf(metric).includes('_seconds')).toBe(metric.unit === 's');
      expect(metric.labels[0]).toBe('connection');
      expect(metric.labels.includes('lock')).toBe(metric.labels.includes('mode'));
      expect(metric.labels).not.toContain('key');
    }
    expect(attributeOf('lock')).toBe('distributed_lock.name');
  });

  it('has no label that Prometheus sets for the target', () => {
    expect(collisionsOf(Object.values(METRICS))).toEqual([]);
  });

  it('with the label `job` or `instance` is found', () => {
    const { cronRuns, held } = METRICS;
    const planted = [
      { ...cronRuns, labels: cronRuns.labels.map((label) => (label === 'cron_job' ? 'job' : label)) },
      { ...held, labels: [...held.labels, 'instance'] },
    ];
    expect(collisionsOf(planted)).toEqual(['distributed_lock.cron_runs: job', 'distributed_lock.held: instance']);
  });
});
