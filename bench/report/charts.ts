import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTENDERS } from '../contenders/contenders.js';
import type { ContenderId } from '../contenders/contender.js';
import { barChart } from './bar-chart.js';
import type { Bar, Tone } from './bar-chart.js';
import type { Machine } from './machine.js';
import { shortNumber } from './number.js';
import type { Figure, Line, ShapeSummary } from './summary.js';

interface Chart {
  readonly file: string;
  readonly shape: string;
  readonly figure: Figure;
  readonly what: string;
  readonly isLessBetter?: boolean;
}

const CHARTS: readonly Chart[] = [
  {
    file: 'one-caller.svg',
    shape: '1x1',
    figure: 'p50Us',
    isLessBetter: true,
    what: 'acquire and release, p50 in microseconds',
  },
  { file: 'many-keys.svg', shape: '64-keys', figure: 'rate', what: 'acquisitions per second' },
  { file: 'one-key.svg', shape: '4x16', figure: 'rate', what: 'acquisitions per second' },
  { file: 'two-ms-inside.svg', shape: '2ms', figure: 'rate', what: 'acquisitions per second' },
  { file: 'reads.svg', shape: 'reads', figure: 'rate', what: 'acquisitions per second' },
  { file: 'waiters.svg', shape: '1000-waiters', figure: 'rate', what: 'drained, acquisitions per second' },
  { file: 'three-nodes.svg', shape: '3-nodes-4x16', figure: 'rate', what: 'acquisitions per second' },
];

/** Draws the shapes that were run. Resolves with the files. */
export function drawCharts(
  dir: string,
  summaries: readonly ShapeSummary[],
  machine: Machine,
  rounds: number,
): string[] {
  mkdirSync(dir, { recursive: true });
  return CHARTS.flatMap((chart) => {
    const summary = summaries.find(({ shape }) => shape.id === chart.shape);
    if (!summary) return [];
    const better = chart.isLessBetter ? 'less is better' : 'more is better';
    const svg = barChart({
      title: summary.shape.title,
      subtitle: `${chart.what}; ${better}; median of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
      footer: footerOf(machine),
      bars: barsOf(summary.lines, chart),
    });
    const file = join(dir, chart.file);
    writeFileSync(file, svg);
    return [file];
  });
}

/** Returns the bars, best first. */
function barsOf(lines: readonly Line[], { figure, isLessBetter = false }: Chart): Bar[] {
  const bars = lines.flatMap(({ contender, label, figures }) => {
    const value = figures[figure];
    const isDrawn = value !== undefined && value > 0;
    return isDrawn ? [{ label, value, text: shortNumber(value), tone: toneOf(contender) }] : [];
  });
  return bars.sort((a, b) => (isLessBetter ? a.value - b.value : b.value - a.value));
}

function toneOf(id: ContenderId): Tone {
  if (id.startsWith('ours')) return 'ours';
  return CONTENDERS.get(id)?.server === 'zookeeper' ? 'peer' : 'elsewhere';
}

function footerOf({ cpus, cpu, versions }: Machine): string {
  const servers = `ZooKeeper ${versions['zookeeper']} with fsync, Redis ${versions['redis']}, etcd ${versions['etcd']}`;
  return `npm run bench on ${cpus} x ${cpu}; ${servers}`;
}
