import { describe, expect, it } from 'vitest';
import type { CronEvent, QueueEvent, StockEvent } from '../../../lib/contract/channels.js';
import type { JobRun, JobRunState, SkipReason } from '../../../lib/contract/job-event.js';
import { MeasuredWork } from '../../../lib/telemetry/measured-work.js';
import { MetricNames } from '../../../lib/telemetry/metric-names.js';
import { METRICS } from '../../../lib/telemetry/metric-table.js';

/** The measured work of a connection, and the counters that it has made. */
function measured() {
  const counts: Record<string, number> = {};
  const counter = (metric: unknown, labels: Readonly<Record<string, string>>) => ({
    add: (by: number) => {
      const name = Object.entries(METRICS).find(([, one]) => one === metric)?.[0] ?? '';
      const series = [name, ...Object.values(labels)].join(' ');
      counts[series] = (counts[series] ?? 0) + by;
    },
  });
  const names = new MetricNames({ nameOf: ({ key }) => key, maxNames: 10 });
  const work = new MeasuredWork('main', names, { counter, histogram: () => ({ record() {} }) });
  return { work, counts };
}

const run = (state: JobRunState) => ({ name: 'bills', state }) as JobRun;
const cron = (event: unknown) => ({ event }) as CronEvent;

describe('the work of a connection', () => {
  it('counts runs of jobs by how they ended, and crashed ones once', () => {
    const { work, counts } = measured();
    for (const state of ['done', 'failed', 'failed', 'lost'] as const) {
      work.cron(cron({ type: 'started', run: run('running') }));
      work.cron(cron({ type: 'finished', run: run(state) }));
    }
    work.cron(cron({ type: 'overdue', run: run('running') }));
    work.cron(cron({ type: 'crashed', run: run('running') }));
    expect(counts).toEqual({
      'cronRuns main bills done': 1,
      'cronRuns main bills failed': 2,
      'cronRuns main bills lost': 1,
      'cronRuns main bills crashed': 1,
    });
  });

  it.each([
    { type: 'skipped', name: 'bills', reason: 'taken' },
    { type: 'started', run: run('running') },
    { type: 'crashed', run: run('running') },
  ])('has all counters of a job from its first event on: $type', (event) => {
    const { work, counts } = measured();
    work.cron(cron(event));
    expect(counts).toMatchObject({
      'cronRuns main bills done': 0,
      'cronRuns main bills failed': 0,
      'cronRuns main bills lost': 0,
      'cronRuns main bills crashed': event.type === 'crashed' ? 1 : 0,
    });
  });

  it('knows the last success of a job, and no failure as one', () => {
    const { work } = measured();
    const samples = () => work.samplesOf(METRICS.cronLastSuccess);
    work.cron(cron({ type: 'skipped', name: 'bills', reason: 'taken' }));
    work.cron(cron({ type: 'finished', run: run('failed') }));
    expect(samples()).toEqual([]);
    const before = Date.now() / 1_000;
    work.cron(cron({ type: 'finished', run: run('done') }));
    const [{ value, labels } = { value: 0, labels: {} }] = samples();
    expect(labels).toEqual({ connection: 'main', cron_job: 'bills' });
    expect(value).toBeGreaterThanOrEqual(before);
  });

  it("knows from a job's first event on when measuring began, also after a success", () => {
    const start = Date.now() / 1_000;
    const { work } = measured();
    const samples = () => work.samplesOf(METRICS.cronKnownSince);
    const began = Date.now() / 1_000;
    expect(samples()).toEqual([]);
    work.cron(cron({ type: 'skipped', name: 'bills', reason: 'taken' }));
    const first = samples();
    expect(first).toEqual([{ labels: { connection: 'main', cron_job: 'bills' }, value: expect.any(Number) }]);
    expect(first[0]?.value).toBeGreaterThanOrEqual(start);
    expect(first[0]?.value).toBeLessThanOrEqual(began);
    work.cron(cron({ type: 'finished', run: run('done') }));
    expect(samples()).toEqual(first);
  });

  it('counts skipped calls by their reason', () => {
    const { work, counts } = measured();
    const reasons: SkipReason[] = ['taken', 'overrun', 'unavailable', 'unavailable', 'shutdown'];
    for (const reason of reasons) work.cron(cron({ type: 'skipped', name: 'bills', reason }));
    expect(counts).toMatchObject({
      'cronSkips main bills taken': 1,
      'cronSkips main bills overrun': 1,
      'cronSkips main bills unavailable': 2,
      'cronSkips main bills shutdown': 1,
    });
  });

  it('counts items of queues by what was done with them', () => {
    const { work, counts } = measured();
    const events: Partial<QueueEvent>[] = [
      { action: 'put', count: 7 },
      { action: 'taken', count: 1 },
      { action: 'taken', count: 1 },
      { action: 'acked', count: 1 },
      { action: 'returned', count: 1 },
    ];
    for (const event of events) work.queue({ key: 'mails', ...event } as QueueEvent);
    expect(counts).toEqual({
      'queueItems main mails put': 7,
      'queueItems main mails taken': 2,
      'queueItems main mails acked': 1,
      'queueItems main mails returned': 1,
    });
  });

  it('counts calls of stocks by their result', () => {
    const { work, counts } = measured();
    for (const result of ['sold', 'soldOut', 'sold', 'refunded', 'restocked', 'conflict'] as const) {
      work.stock({ key: 'shoes', result } as StockEvent);
    }
    expect(counts).toEqual({
      'stockCalls main shoes sold': 2,
      'stockCalls main shoes soldOut': 1,
      'stockCalls main shoes refunded': 1,
      'stockCalls main shoes restocked': 1,
      'stockCalls main shoes conflict': 1,
    });
  });
});
