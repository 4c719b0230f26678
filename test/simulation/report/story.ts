import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../robustness/validate/finding.js';
import { OUTPUT } from '../places.js';
import type { PlanOfTraffic, TrafficRun } from '../search/examine.js';

const LINES_BEFORE = 60;
const COLUMN = 34;

/** The story of a run: a time line with a column for each process, up to the end or to the moment of a finding. */
export function storyOf(run: TrafficRun, until = Infinity, most = LINES_BEFORE): string {
  const told = (run.lines ?? []).map(readLine).filter((line) => line !== undefined && line.ms <= until) as Told[];
  const last = told.slice(-most);
  const columns = [...new Set(last.map(({ who }) => who))].sort();
  const header = ['ms'.padStart(12), ...columns.map((name) => name.padEnd(COLUMN))].join(' ');
  const rows = last.map(({ ms, who, text }) => {
    const indent = columns.indexOf(who) * (COLUMN + 1);
    return `${ms.toFixed(1).padStart(12)} ${' '.repeat(indent)}${text}`;
  });
  return [header, ...rows].join('\n');
}

/** Writes the plan, the findings, and everything that happened. Returns the path of the file. */
export function writeStory(plan: PlanOfTraffic, findings: readonly Finding[], run: TrafficRun): string {
  mkdirSync(OUTPUT, { recursive: true });
  const file = join(OUTPUT, `seed-${plan.seed}.txt`);
  const parts = [
    JSON.stringify(plan, undefined, 1),
    ...findings.map(({ check, message, records }) => `${check}: ${message}\n${text(records)}`),
    storyOf(run, Infinity, Infinity),
  ];
  writeFileSync(file, parts.join('\n\n'));
  return file;
}

interface Told {
  readonly ms: number;
  readonly who: string;
  readonly text: string;
}

/** Keeps only the journal, faults and commits. The bytes of messages are in the record. */
function readLine(line: string): Told | undefined {
  const [time = '', who = '', ...rest] = line.split(' ');
  if (who.includes('>')) return undefined;
  return { ms: Number(time) / 1_000, who, text: shortened(rest.join(' ')) };
}

function shortened(text: string): string {
  if (!text.startsWith('{"what"')) return text;
  const { what, at: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  const values = Object.values(rest).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return `${String(what)} ${values.join(' ')}`.slice(0, 160);
}

function text(records: readonly unknown[]): string {
  return JSON.stringify(records, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value), 1);
}
