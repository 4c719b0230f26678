import type { Finding } from '../../robustness/validate/finding.js';
import type { HoldEntry } from './orders.js';

interface Hold {
  readonly hold: string;
  readonly process: string;
  readonly key: string;
  readonly mode: 'exclusive' | 'read';
  readonly token: bigint;
}

/**
 * The holds that processes believe they have at this moment. Each check uses only the present and the tokens granted so
 * far, never the order of two unrelated moments. So the result is the same in all orders that lead to one state.
 */
export class Holds {
  readonly findings: Finding[] = [];
  readonly #now = new Map<string, Hold>();
  readonly #ever = new Map<string, Hold>();
  readonly #isExcused: (process: string) => boolean;

  /** @param isExcused whether the process cannot have been notified of the end of its holds */
  constructor(isExcused: (process: string) => boolean) {
    this.#isExcused = isExcused;
  }

  /** The holds as one text, for states. */
  get text(): string {
    return [...this.#now.values()]
      .map(({ hold, key }) => `${hold} ${key}`)
      .sort()
      .join(',');
  }

  get granted(): number {
    return this.#ever.size;
  }

  told(process: string, entry: HoldEntry): void {
    if (entry.what === 'held') this.#begin({ ...entry, process, token: BigInt(entry.token) });
    else if (entry.what === 'acts') this.#act(this.#now.get(entry.hold));
    else if (entry.what === 'ends') this.#now.delete(entry.hold);
  }

  /** Removes the holds of a dead process. */
  died(process: string): void {
    for (const [name, hold] of this.#now) if (hold.process === process) this.#now.delete(name);
  }

  #begin(hold: Hold): void {
    this.#now.set(hold.hold, hold);
    this.#ever.set(hold.hold, hold);
    if (this.#isExcused(hold.process)) return;
    for (const other of this.#now.values()) {
      if (!excludes(hold, other) || this.#isExcused(other.process)) continue;
      this.#found('exclusion', `${hold.hold} holds ${hold.key}, and so does ${other.hold}`, [hold, other]);
    }
    this.#act(hold);
  }

  #act(hold: Hold | undefined): void {
    if (!hold || this.#isExcused(hold.process)) return;
    for (const other of this.#ever.values()) {
      if (!excludes(hold, other) || other.token < hold.token || isDowngrade(hold, other)) continue;
      const message = `${hold.hold} acts with the token ${hold.token} on ${hold.key}, after ${other.hold} got ${other.token}`;
      this.#found('fencing tokens', message, [hold, other]);
    }
  }

  #found(check: string, message: string, holds: readonly Hold[]): void {
    if (this.findings.some((finding) => finding.message === message)) return;
    this.findings.push({ check, message, records: holds.map((hold) => ({ ...hold, token: String(hold.token) })) });
  }
}

function excludes(one: Hold, other: Hold): boolean {
  if (one.hold === other.hold || one.key !== other.key) return false;
  return one.mode === 'exclusive' || other.mode === 'exclusive';
}

/** Whether a reader continues with the token of the writer that it was before. */
function isDowngrade(reader: Hold, writer: Hold): boolean {
  const callerOf = ({ hold }: Hold) => hold.slice(0, hold.indexOf('#'));
  return reader.mode === 'read' && reader.token === writer.token && callerOf(reader) === callerOf(writer);
}
