import type { Activity } from './activity.js';
import { INSTANCES } from './cluster.js';
import { dim } from './style.js';

const REDRAW_MS = 80;
const PRINT_MS = 700;
const FIRST_PRINT_MS = 150;
const KEYS_SHOWN = 3;

/**
 * The live view of the leases. It is redrawn in place on a terminal, and printed as a few plain lines now and then
 * elsewhere.
 */
export class LiveView {
  private readonly out = process.stdout;
  private timer: NodeJS.Timeout | undefined;
  private drawn = 0;

  constructor(private readonly activity: Activity) {}

  start(): void {
    if (this.out.isTTY) this.timer = setInterval(() => this.redraw(), REDRAW_MS);
    else this.timer = setTimeout(() => this.print(), FIRST_PRINT_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.erase();
  }

  /** Prints a line that stays, above the redrawn part. */
  say(line: string): void {
    this.erase();
    console.log(line);
  }

  private redraw(): void {
    this.erase();
    const lines = INSTANCES.map((name) => this.lineOf(name).slice(0, (this.out.columns || 80) - 1));
    this.out.write(lines.map((line) => `${dim(line)}\n`).join(''));
    this.drawn = lines.length;
  }

  private erase(): void {
    if (this.drawn > 0) this.out.write(`\u001B[${this.drawn}A\u001B[0J`);
    this.drawn = 0;
  }

  private print(): void {
    for (const name of INSTANCES) if (this.activity.isBusy(name)) console.log(this.lineOf(name).trimEnd());
    this.timer = setTimeout(() => this.print(), PRINT_MS);
  }

  private lineOf(name: string): string {
    const waiting = String(this.activity.waitingOn(name)).padStart(4);
    return `    [${name}] ${waiting} waiting   ${this.holdsOf(name)}`;
  }

  private holdsOf(name: string): string {
    const tokens = new Map<string, string[]>();
    const holdings = this.activity.holdingsOf(name);
    for (const { key, token } of holdings) tokens.set(key, [...(tokens.get(key) ?? []), token]);
    if (tokens.size === 0) return '';
    const shown = [...tokens].slice(0, KEYS_SHOWN).map(([key, held]) => key + detailOf(held));
    const more = tokens.size > KEYS_SHOWN ? ` and ${tokens.size - KEYS_SHOWN} more` : '';
    return `${holdings[0]?.mode === 'read' ? 'reads' : 'holds'} ${shown.join(', ')}${more}`;
  }
}

/**
 * Returns the token of the only holder, or the number of holders. Readers may hold a key together; others only without
 * locks.
 */
function detailOf([token, ...others]: readonly string[]): string {
  if (others.length > 0) return ` ×${others.length + 1}`;
  return token === '0' ? '' : ` (token ${token})`;
}
