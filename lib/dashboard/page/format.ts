const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a duration in words that fit into a table: `380 ms`, `4.2 s`, `3 min 05 s`. */
export function duration(ms: number | null): string {
  if (ms === null) return '–';
  const positive = Math.max(0, ms);
  if (positive < 1) return positive === 0 ? '0 ms' : '< 1 ms';
  if (positive < SECOND) return `${Math.round(positive)} ms`;
  if (positive < 10 * SECOND) return `${(positive / SECOND).toFixed(1)} s`;
  return seconds(positive);
}

/** Returns an age, which ticks once a second: `4 s`, `3 min 05 s`. */
export function age(ms: number | null): string {
  return ms === null ? '–' : seconds(Math.max(0, ms));
}

function seconds(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${two((ms % MINUTE) / SECOND)} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${two((ms % DAY) / HOUR)} h`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}

/** Returns the time of day, in the time zone of the browser. */
export function time(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => two(part)).join(':');
}

/** Returns the time of day, with the date in front of it unless that is today. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  if (date.toDateString() === new Date(now).toDateString()) return time(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time(at)}`;
}

/** Returns a number with thin spaces between groups of three digits. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** Returns a number with its noun: `1 candidate`, `2 candidates`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
