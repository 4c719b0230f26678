/** A bar: its label, its length, and the text at its end. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly tone: Tone;
}

/** This package, another library on the same server, or one on another server. */
export type Tone = 'ours' | 'peer' | 'elsewhere';

export interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly footer: string;
  readonly bars: readonly Bar[];
}

const WIDTH = 760;
const LABELS = 250;
const TEXTS = 100;
const ROW = 26;
const BAR = 16;
const TOP = 62;
const BOTTOM = 62;
/** The ratio from which on the scale is logarithmic, because the shortest bar would be too thin otherwise. */
const WIDE_RANGE = 40;
/** The length of the shortest bar on a logarithmic scale, in powers of ten. */
const SHORTEST = 0.4;

// A grey that is readable on white and on black, because a picture in a README does not know its background.
const TEXT = '#768390';
const FILL: Readonly<Record<Tone, string>> = { ours: '#3b82f6', peer: '#8b949e', elsewhere: '#b08bd0' };

const LEGEND: readonly (readonly [tone: Tone, meaning: string])[] = [
  ['ours', 'this package'],
  ['peer', 'others on the same ZooKeeper'],
  ['elsewhere', 'others on another server'],
];
const LEGEND_STEP = 210;

/** Returns horizontal bars as SVG, for a page of unknown colour. */
export function barChart({ title, subtitle, footer, bars }: BarChart): string {
  const height = TOP + bars.length * ROW + BOTTOM;
  const scale = scaleOf(bars.map(({ value }) => value));
  const bottom = TOP + bars.length * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`,
    ` role="img" aria-label="${escaped(title)}" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"`,
    ` font-size="13" fill="${TEXT}">\n`,
    `<text x="8" y="22" font-size="16" font-weight="600">${escaped(title)}</text>\n`,
    `<text x="8" y="42">${escaped(subtitle + (scale.isByTens ? ', by powers of ten' : ''))}</text>\n`,
    ...scale.ticks.map((tick) => gridLine(scale.length(tick), bottom, tick)),
    ...bars.map((bar, place) => row(bar, TOP + place * ROW, scale.length(bar.value))),
    ...LEGEND.map(([tone, meaning], place) => legend(tone, meaning, 8 + place * LEGEND_STEP, height - 26)),
    `<text x="8" y="${height - 8}" font-size="11">${escaped(footer)}</text>\n`,
    '</svg>\n',
  ].join('');
}

interface Scale {
  readonly isByTens: boolean;
  readonly ticks: readonly number[];
  /** Returns the length of a value's bar. */
  length(value: number): number;
}

function scaleOf(values: readonly number[]): Scale {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const full = WIDTH - LABELS - TEXTS;
  if (!(highest / lowest > WIDE_RANGE)) {
    return { isByTens: false, ticks: [], length: (value) => (value / highest) * full };
  }
  const first = Math.log10(lowest) - SHORTEST;
  const tens = Math.log10(highest) - first;
  const [from, to] = [Math.ceil(first), Math.floor(first + tens)];
  const ticks = Array.from({ length: to - from + 1 }, (_, place) => 10 ** (from + place));
  return { isByTens: true, ticks, length: (value) => ((Math.log10(value) - first) / tens) * full };
}

function gridLine(length: number, bottom: number, value: number): string {
  const x = rounded(LABELS + length);
  const line = `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${bottom}" stroke="${TEXT}" stroke-opacity="0.25"/>`;
  const label = value >= 1 ? value.toLocaleString('en-US') : String(value);
  return `${line}<text x="${x}" y="${bottom + 12}" font-size="10" text-anchor="middle">${label}</text>\n`;
}

function row({ label, text, tone }: Bar, y: number, length: number): string {
  const baseline = y + BAR - 3;
  const weight = tone === 'ours' ? ' font-weight="600"' : '';
  const width = rounded(Math.max(1, length));
  return [
    `<text x="${LABELS - 8}" y="${baseline}" text-anchor="end"${weight}>${escaped(label)}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${width}" height="${BAR}" rx="2" fill="${FILL[tone]}"/>`,
    `<text x="${rounded(LABELS + width + 6)}" y="${baseline}"${weight}>${escaped(text)}</text>\n`,
  ].join('');
}

function legend(tone: Tone, meaning: string, x: number, baseline: number): string {
  const swatch = `<rect x="${x}" y="${baseline - 9}" width="10" height="10" rx="2" fill="${FILL[tone]}"/>`;
  return `${swatch}<text x="${x + 16}" y="${baseline}" font-size="11">${escaped(meaning)}</text>\n`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
