import { check, resolveConfig } from 'prettier';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTENDERS } from '../../bench/contenders/contenders.js';
import type { Report } from '../../bench/report/results-file.js';
import { SHAPES } from '../../bench/shapes.js';
import { BenchRun } from './bench-run.js';

/** Long enough for a machine that is busy with other work. */
const LIMIT_MS = 600_000;

const TURNS = SHAPES.flatMap(({ id, contenders }) => contenders.map((contender) => ({ shape: id, contender })));

describe('a short run of the bench', () => {
  let run: BenchRun;
  let report: Report;

  beforeAll(async () => {
    run = await BenchRun.of('--short');
    report = run.report;
  }, LIMIT_MS);
  afterAll(() => run[Symbol.dispose]());

  it('ends well', () => {
    expect({ exitCode: run.exitCode, output: run.output }).toEqual({ exitCode: 0, output: run.output });
  });

  it.each(TURNS)('has run $contender on $shape without overlaps', ({ shape, contender }) => {
    const turns = report.results.filter((result) => result.shape === shape && result.contender === contender);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ overlaps: 0 });
    expect(turns[0]?.failure).toBeUndefined();
    expect(turns[0]?.acquisitions).toBeGreaterThan(0);
  });

  it('has run nothing else', () => {
    expect(report.results).toHaveLength(TURNS.length);
  });

  it.each(['rate', 'p50Us', 'handOverP50Us', 'fairness', 'cpuUs', 'packetsTo', 'packetsFrom', 'enqueueMs'] as const)(
    'has measured %s for at least one contender',
    (figure) => {
      expect(report.results.filter(({ figures }) => (figures[figure] ?? 0) > 0)).not.toEqual([]);
    },
  );

  it('has measured the memory of waiters', () => {
    const ofQueue = report.results.filter(({ shape }) => shape === '1000-waiters');
    expect(ofQueue.map(({ figures }) => figures.heapBytes)).toEqual(ofQueue.map(() => expect.any(Number)));
  });

  it.each(SHAPES)('prints and writes a table of $id', ({ title, contenders }) => {
    for (const text of [run.output, run.drawn.get('tables.md')!]) {
      const [, table = ''] = text.split(`${title} (`);
      for (const id of contenders) expect(table.split('\n\n', 2).join('')).toContain(CONTENDERS.get(id)!.label);
    }
  });

  it('writes tables in the formatter’s layout', async () => {
    expect(
      await check(run.drawn.get('tables.md')!, { ...(await resolveConfig('README.md')), parser: 'markdown' }),
    ).toBe(true);
  });

  it('draws charts of the measured figures', () => {
    const charts = [...run.drawn].filter(([name]) => name.endsWith('.svg'));
    expect(charts.length).toBeGreaterThanOrEqual(7);
    for (const [, svg] of charts) expect(svg).toMatch(/^<svg /);
    expect(charts.filter(([, svg]) => svg.includes('>ours<'))).not.toEqual([]);
  });

  it('reports the machine that it ran on', () => {
    const { machine } = report;
    expect(machine.cpus).toBeGreaterThan(0);
    expect(Object.entries(machine.versions).filter(([, version]) => !/^\d+\.\d+/.test(version))).toEqual([]);
  });
});

describe('a run whose time is over', () => {
  it(
    'begins nothing more, says what was not measured, and fails',
    async () => {
      using run = await BenchRun.of('--short', '--shape', '1x1', '--shape', 'kept', '--minutes', '1e-9');
      expect(run.output).toContain('not measured in full, the time was over: 1x1 kept');
      expect(run.exitCode).toBe(1);
      expect(run.report.results).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe('a lock that excludes nobody', () => {
  it(
    'fails the run',
    async () => {
      using run = await BenchRun.of('--short', '--shape', '4x16', '--contender', 'no-lock');
      expect(run.output).toMatch(/4x16, no lock, to be found out: [1-9]\d* of \d+ tenures overlap/);
      expect(run.exitCode).toBe(1);
      const [planted] = run.report.results.filter(({ contender }) => contender === 'no-lock');
      expect(planted?.overlaps).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
