import { describe, expect, it } from 'vitest';
import { barChart } from '../../../bench/report/bar-chart.js';
import type { Bar } from '../../../bench/report/bar-chart.js';

const bar = (value: number, fields: Partial<Bar> = {}): Bar => ({
  label: `bar ${value}`,
  value,
  text: `${value}`,
  tone: 'peer',
  ...fields,
});
const chartOf = (...bars: Bar[]) => barChart({ title: 'T', subtitle: 'S', footer: 'F', bars });

/** The lengths of the bars, without the squares of the legend. */
function lengths(svg: string): number[] {
  return [...svg.matchAll(/<rect [^>]*width="([\d.]+)" height="16"/g)].map(([, width]) => Number(width));
}

describe('a bar chart', () => {
  it('has a bar for each value, as long as its share of the longest', () => {
    const [longest, half] = lengths(chartOf(bar(10), bar(5)));
    expect(half).toBeCloseTo(longest! / 2, 0);
  });

  it('has a logarithmic scale when the values are far apart, and says so', () => {
    const svg = chartOf(bar(100_000), bar(1_000), bar(100));
    const [most, some, least] = lengths(svg);
    expect(svg).toContain('by powers of ten');
    expect(most! - some!).toBeCloseTo(2 * (some! - least!), 0);
    expect(least).toBeGreaterThan(0);
    expect(chartOf(bar(10), bar(5))).not.toContain('by powers of ten');
  });

  it('keeps everything inside the picture', () => {
    const svg = chartOf(...[90_000, 5, 1].map((value) => bar(value)));
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number);
    for (const [, x] of svg.matchAll(/ x="([\d.]+)"/g)) expect(Number(x)).toBeLessThan(width! - 30);
    for (const [, y] of svg.matchAll(/ y="([\d.]+)"/g)) expect(Number(y)).toBeLessThan(height!);
  });

  it('is well-formed whatever the labels contain', () => {
    const svg = chartOf(bar(1, { label: '<a> & "b"' }));
    expect(svg).toContain('&lt;a&gt; &amp; &quot;b&quot;');
    const text = svg.replaceAll(/<[^<>]*>/g, '');
    expect(text).not.toMatch(/[<>]/);
    const open = [...svg.matchAll(/<(\w+)[^<>]*[^/]>/g)].map(([, name]) => name);
    const closed = [...svg.matchAll(/<\/(\w+)>/g)].map(([, name]) => name);
    expect(closed).toHaveLength(open.length);
    expect(new Set(closed)).toEqual(new Set(open));
  });

  it('marks our own bar', () => {
    expect(chartOf(bar(1, { tone: 'ours', label: 'me' }))).toMatch(/font-weight="600">me</);
  });
});
