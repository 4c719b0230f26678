import type { Outcome, Scene } from './scene.js';
import { bold, green, red } from './style.js';

/** A scene with its outcome. */
export interface Row {
  readonly scene: Scene;
  readonly outcome: Outcome;
}

type Style = (text: string) => string;

interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  text(row: Row): string;
  style?(row: Row): Style;
}

const COLUMNS: readonly Column[] = [
  { title: 'SCENE', text: ({ scene }) => scene.name },
  { title: 'REQUESTS', isNumber: true, text: ({ outcome }) => String(outcome.requests) },
  { title: 'DONE', isNumber: true, text: ({ outcome }) => String(outcome.done) },
  { title: 'REFUSED', text: ({ outcome }) => refusals(outcome) },
  { title: 'VIOLATIONS', text: violations, style: (row) => (isRight(row) ? green : red) },
  { title: 'WORST WAIT', isNumber: true, text: ({ outcome }) => waitOf(outcome) },
];

const plain: Style = (text) => text;

export function table(rows: readonly Row[]): string {
  const columns = COLUMNS.map((column) => cellsOf(column, rows));
  const lines = [undefined, ...rows].map((_, place) => columns.map((cells) => cells[place]));
  return lines.map((cells) => `  ${cells.join('   ')}`).join('\n');
}

/** Returns a column's title and texts, all padded to one width. */
function cellsOf({ title, isNumber, text, style }: Column, rows: readonly Row[]): readonly string[] {
  const width = Math.max(title.length, ...rows.map((row) => text(row).length));
  const pad = (cell: string) => (isNumber ? cell.padStart(width) : cell.padEnd(width));
  return [bold(pad(title)), ...rows.map((row) => (style?.(row) ?? plain)(pad(text(row))))];
}

/** Whether the scene ended as it must with locks: something was done, and nothing went wrong. */
export function isRight({ outcome }: Row): boolean {
  return outcome.done > 0 && outcome.violations === 0 && outcome.failed === 0;
}

/** Returns the row as one line, for the end of a scene. */
export function rowInWords(row: Row): string {
  const { outcome } = row;
  const mark = isRight(row) ? green('✓') : red('✗');
  const counts = [`${outcome.done} done`, refusals(outcome), violations(row)].filter((part) => part !== '–').join(', ');
  return `  ${mark} ${counts}: ${outcome.remark}`;
}

function violations({ scene, outcome }: Row): string {
  return `${outcome.violations} ${scene.violation}`;
}

function refusals({ refused }: Outcome): string {
  return [...refused].map(([reason, count]) => `${count} ${reason}`).join(', ') || '–';
}

function waitOf({ worstWaitMs }: Outcome): string {
  return worstWaitMs === undefined ? '–' : `${worstWaitMs} ms`;
}
