import { sharedNow } from '../clock.js';

/** What is going on right now, in one line: over the last one on a terminal, one after another elsewhere. */
export class ProgressLine {
  readonly #title: string;
  readonly #startedAt = sharedNow();
  #last = '';

  constructor(title: string) {
    this.#title = title;
  }

  /** @param topic in a log there is a line whenever this changes, not for every state */
  show(state: string, topic = state): void {
    const isTerminal = process.stdout.isTTY;
    if (!isTerminal && topic === this.#last) return;
    this.#last = topic;
    const seconds = Math.round((sharedNow() - this.#startedAt) / 1_000);
    process.stdout.write(
      `${isTerminal ? '\r\x1b[K' : ''}${this.#title} ${seconds} s: ${state}${isTerminal ? '' : '\n'}`,
    );
  }

  clear(): void {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  }
}
