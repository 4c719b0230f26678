import type { ShownDurations, ShownHold, ShownSessionState } from '../answers.js';
import { h } from './dom.js';
import type { VNode } from './dom.js';
import { duration, time } from './format.js';

/** One line of a chart: a value for each point, `null` where there is none. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly tone: 'plain' | 'wait' | 'soft';
}

/** The size of a chart in its own units. It is scaled to the space that there is. */
interface Size {
  readonly width: number;
  readonly height: number;
}

const SMALL: Size = { width: 120, height: 28 };
const LARGE: Size = { width: 480, height: 96 };

/** A small line without axes, beside a number that says the latest value. */
export function sparkline(values: readonly (number | null)[], tone: Line['tone']): VNode {
  return h(
    'svg',
    {
      class: `spark ${tone}`,
      viewBox: `0 0 ${SMALL.width} ${SMALL.height}`,
      'aria-hidden': 'true',
      preserveAspectRatio: 'none',
    },
    area(values, SMALL, top(values)),
    path(values, SMALL, top(values)),
  );
}

/** A chart of some lines over the last minutes. Its text says the same for screen readers. */
export function chart(title: string, lines: readonly Line[], unit: (value: number) => string): VNode {
  const highest = Math.max(...lines.map(({ values }) => top(values)));
  const latest = lines.map(({ name, values }) => `${name} ${text(values.at(-1) ?? null, unit)}`);
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', {}, h('span', { class: 'chart-title' }, title), legend(lines, unit)),
    h(
      'svg',
      {
        class: 'lines',
        viewBox: `0 0 ${LARGE.width} ${LARGE.height}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `${title}: ${latest.join(', ')}`,
      },
      h('line', { class: 'axis', x1: 0, x2: LARGE.width, y1: LARGE.height - 1, y2: LARGE.height - 1 }),
      h('line', { class: 'grid', x1: 0, x2: LARGE.width, y1: 2, y2: 2 }),
      lines.map(({ name, values, tone }) =>
        h(
          'g',
          { key: name, class: tone },
          lines.length === 1 && area(values, LARGE, highest),
          path(values, LARGE, highest),
        ),
      ),
    ),
    h(
      'div',
      { class: 'scale', 'aria-hidden': 'true' },
      h('span', {}, periodText(lines)),
      h('span', {}, `top ${unit(highest)}`),
    ),
  );
}

function periodText(lines: readonly Line[]): string {
  const points = Math.max(FEWEST_POINTS, ...lines.map(({ values }) => values.length));
  return `last ${Math.round((points * POINT_SECONDS) / 60)} min`;
}

function legend(lines: readonly Line[], unit: (value: number) => string): VNode {
  return h(
    'span',
    { class: 'legend' },
    lines.map(({ name, values, tone }) =>
      h(
        'span',
        { class: `key ${tone}`, key: name },
        h('i', {}),
        ` ${name} `,
        h('b', {}, text(values.at(-1) ?? null, unit)),
      ),
    ),
  );
}

function text(value: number | null, unit: (value: number) => string): string {
  return value === null ? '–' : unit(value);
}

function top(values: readonly (number | null)[]): number {
  return Math.max(1, ...values.map((value) => value ?? 0));
}

/** With fewer points than this, the left of a chart is empty. */
const FEWEST_POINTS = 24;
const POINT_SECONDS = 5;

function points(values: readonly (number | null)[], { width, height }: Size, highest: number): [number, number][] {
  const places = Math.max(FEWEST_POINTS, values.length);
  const step = width / (places - 1);
  const first = places - values.length;
  return values.flatMap((value, at): [number, number][] => {
    if (value === null) return [];
    return [[round((first + at) * step), round(height - 2 - ((height - 4) * value) / highest)]];
  });
}

function path(values: readonly (number | null)[], size: Size, highest: number): VNode {
  const all = points(values, size, highest).map(([x, y]) => `${x} ${y}`);
  return h('path', {
    class: 'stroke',
    d: all.length === 0 ? null : `M${all.join('L')}`,
    'vector-effect': 'non-scaling-stroke',
  });
}

function area(values: readonly (number | null)[], size: Size, highest: number): VNode {
  const all = points(values, size, highest);
  const [first] = all;
  const last = all.at(-1);
  const line = all.map(([x, y]) => `${x} ${y}`).join('L');
  const d = first && last ? `M${first[0]} ${size.height}L${line}L${last[0]} ${size.height}Z` : null;
  return h('path', { class: 'fill', d });
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

const SHOWN_BLOCKS = 12;

/** A wait queue as blocks: what holds, then what waits. */
export function queueBlocks(holding: number, waiting: number): VNode {
  const total = Math.min(SHOWN_BLOCKS, holding + waiting);
  const held = Math.min(holding, waiting > 0 ? total - 1 : total);
  return h(
    'svg',
    { class: 'blocks', viewBox: `0 0 ${SHOWN_BLOCKS * 8} 12`, 'aria-hidden': 'true' },
    Array.from({ length: total }, (_, at) =>
      h('rect', { key: at, class: at < held ? 'held' : 'waits', x: at * 8, y: 1, width: 6, height: 10, rx: 1.5 }),
    ),
  );
}

/** Durations as bars, one for each bucket that has any. */
export function histogram(title: string, { boundsMs, counts, p50Ms, p99Ms }: ShownDurations): VNode {
  const highest = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const width = 480 / counts.length;
  const summary =
    total === 0
      ? 'none in the last minute'
      : `p50 ${duration(p50Ms)} · p99 ${duration(p99Ms)} · ${total} in the last minute`;
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', {}, h('span', { class: 'chart-title' }, title), h('span', { class: 'legend' }, summary)),
    h(
      'svg',
      {
        class: 'lines',
        viewBox: '0 0 480 96',
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `${title}: ${summary}`,
      },
      h('line', { class: 'axis', x1: 0, x2: 480, y1: 95, y2: 95 }),
      counts.map((count, at) => {
        const height = count === 0 ? 0 : Math.max(3, (90 * count) / highest);
        const upTo = boundsMs[at];
        const label = `${upTo === undefined ? `over ${duration(boundsMs.at(-1) ?? 0)}` : `up to ${duration(upTo)}`}: ${count}`;
        return h(
          'rect',
          { key: at, class: 'bar', x: at * width + 2, y: 95 - height, width: width - 4, height, rx: 2 },
          h('title', {}, label),
        );
      }),
    ),
    h(
      'div',
      { class: 'scale', 'aria-hidden': 'true' },
      ['1 ms', '50 ms', '1 s', '5 min'].map((mark) => h('span', {}, mark)),
    ),
  );
}

/** A period of the clock of the server, in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The states of a session as a strip. Each state has a word beside its colour. */
export function stateStrip(states: readonly ShownSessionState[], { from, to }: Period): VNode {
  const parts = states.map(({ at, state }, place) => ({
    state,
    from: Math.max(from, at),
    to: states[place + 1]?.at ?? to,
  }));
  const shown = parts.filter((part) => part.to > from);
  const x = (at: number) => round((480 * (at - from)) / (to - from));
  const words = shown.map(({ state, from: begin }) => `${state} from ${time(begin)}`).join(', ');
  return h(
    'svg',
    {
      class: 'strip',
      viewBox: '0 0 480 16',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `session: ${words}`,
    },
    h('rect', { class: 'none', x: 0, y: 0, width: 480, height: 16, rx: 4 }),
    shown.map((part) =>
      h(
        'rect',
        {
          key: part.from,
          class: part.state,
          x: x(part.from),
          y: 0,
          width: Math.max(2, x(part.to) - x(part.from)),
          height: 16,
        },
        h('title', {}, `${part.state} from ${time(part.from)} to ${time(part.to)}`),
      ),
    ),
  );
}

/** The holds of a key on one axis of time. A gap between two of them is a hand-over. */
export function holdStrip(holds: readonly ShownHold[], { from, to }: Period): VNode {
  const x = (at: number) => round((960 * (Math.max(from, at) - from)) / (to - from));
  const shown = holds.filter((hold) => (hold.to ?? to) > from);
  return h(
    'svg',
    { class: 'strip holds', viewBox: '0 0 960 28', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    h('rect', { class: 'none', x: 0, y: 0, width: 960, height: 28, rx: 4 }),
    shown.map((hold, at) => {
      const end = hold.to ?? to;
      const owner = hold.owner.label ?? hold.owner.host ?? 'a client';
      return h(
        'rect',
        {
          key: `${hold.from} ${at}`,
          class: hold.to === null ? 'open' : 'over',
          x: x(hold.from),
          y: 3,
          width: Math.max(2, x(end) - x(hold.from) - 2),
          height: 22,
          rx: 2,
        },
        h('title', {}, `${owner}: ${time(hold.from)}, ${duration(end - hold.from)}`),
      );
    }),
  );
}

/** The segments of a stock, one bar each. */
export function segmentBars(segments: readonly number[]): VNode {
  const highest = Math.max(1, ...segments);
  const step = 480 / segments.length;
  const gap = Math.min(8, step / 4);
  return h(
    'svg',
    {
      class: 'segments',
      viewBox: '0 0 480 80',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `units of the ${segments.length} segments: ${segments.join(', ')}`,
    },
    segments.map((units, at) => {
      const height = units === 0 ? 2 : Math.max(4, (72 * units) / highest);
      return h(
        'rect',
        {
          key: at,
          class: units === 0 ? 'dry' : 'units',
          x: at * step,
          y: 78 - height,
          width: step - gap,
          height,
          rx: 2,
        },
        h('title', {}, `segment ${at}: ${units}`),
      );
    }),
  );
}
