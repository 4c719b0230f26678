import { sharedNow } from '../clock.js';
import type { Progress } from '../scenarios/conduct.js';

/** What is going on right now, in one line: over the last one on a terminal, one after another elsewhere. */
export class ProgressLine {
  readonly #title: string;
  readonly #startedAt = sharedNow();
  #last = '';

  constructor(title: string) {
    this.#title = title;
  }

  show({ phase, writes, faults, broken }: Progress): void {
    const now = broken.length > 0 ? `now: ${broken.join(', ')}` : 'now: nothing broken';
    const state = phase === 'traffic' ? `${writes} writes, ${faults} faults, ${now}` : phase;
    const isTerminal = process.stdout.isTTY;
    // A log need not have a line for every second.
    if (!isTerminal && withoutCount(state) === this.#last) return;
    this.#last = withoutCount(state);
    const seconds = Math.round((sharedNow() - this.#startedAt) / 1_000);
    process.stdout.write(
      `${isTerminal ? '\r\x1b[K' : ''}${this.#title} ${seconds} s: ${state}${isTerminal ? '' : '\n'}`,
    );
  }

  clear(): void {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  }
}

function withoutCount(state: string): string {
  return state.replace(/^\d+ writes, /, '');
}
