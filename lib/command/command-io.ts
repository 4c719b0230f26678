/** The surroundings of a command: its output, its environment, and its end. Tests give their own. */
export interface CommandIo {
  /** Writes to the standard output. */
  out(text: string): void;
  /** Writes to the standard error. */
  complain(text: string): void;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user asks the command to end. */
  readonly signal: AbortSignal;
  /** The clock of this machine, in milliseconds since 1970. */
  now(): number;
  /** Asks the user for a line. `undefined` when nobody is there to answer. */
  ask(question: string): Promise<string | undefined>;
}

/** Characters that terminals obey, and those that change the direction of text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const LONGEST = 256;

/** Text that other clients have written, as it may be shown: one line, no control characters, not too long. */
export function printable(text: string): string {
  const shown = escaped(text);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

/** The same in full, for what is wrong and what to change: the end of it may be what helps. */
export function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${codeOf(character)}`);
}

/** The value as JSON for people and programs, without a character that a terminal obeys. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part), 2);
  // A line end is the only one that JSON.stringify itself has written.
  return `${text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : `\\u${codeOf(character)}`))}\n`;
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** A table with a line of titles. Every cell is made printable, or as `shown` makes it. */
export function tableText(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  shown: (text: string) => string = printable,
): string {
  const lines = [titles, ...rows.map((row) => row.map(shown))];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const lineText = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${lines.map(lineText).join('\n')}\n`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its largest unit: `12 s`, `3 min`. */
export function durationText(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  const [unit, size] = UNITS.find(([, least]) => rounded >= least) ?? ['ms', 1];
  return `${Math.floor(rounded / size)} ${unit}`;
}

/** @throws Error that names the option, for a text that is no duration such as `500ms`, `5s`, `2min` */
export function durationOf(option: string, text: string): number {
  const { count, unit } = /^(?<count>\d+)(?<unit>ms|s|min)?$/.exec(text)?.groups ?? {};
  if (count === undefined)
    throw new Error(`${option} must be a duration such as 500ms, 5s or 2min, got "${printable(text)}"`);
  return Number(count) * (unit === 'min' ? 60_000 : unit === 's' ? 1_000 : 1);
}
