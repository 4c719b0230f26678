import { sharedNow } from '../clock.js';

/** The current state in one line. On a terminal it replaces the previous one, elsewhere it is a new line. */
export class ProgressLine {
  readonly #title: string;
  readonly #startedAt = sharedNow();
  #last = '';

  constructor(title: string) {
    this.#title = title;
  }

  /** @param topic in a log, a line is only written when the topic changes */
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
